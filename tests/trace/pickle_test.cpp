#include "trace/read/snapshot/pickle.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace fathom::trace::pickle_test {

using namespace std::string_literals;

// A value as Python would print it, with ? for what is opaque and … for what is too deep.
std::string printed(const Pickle& pickle, PickleRef value, int depth = 8) {
  if (depth == 0) return "…";
  const auto list = [&](const std::string& open, const std::string& close) {
    std::string text = open;
    for (const PickleRef item : pickle.items(value)) {
      if (text.size() > open.size()) text += ", ";
      text += printed(pickle, item, depth - 1);
    }
    return text + close;
  };
  switch (pickle.kind(value)) {
    case PickleKind::none:
      return "None";
    case PickleKind::boolean:
      return pickle.integer(value) == 1 ? "True" : "False";
    case PickleKind::integer:
      return std::to_string(*pickle.integer(value));
    case PickleKind::real:
      return std::to_string(*pickle.real(value));
    case PickleKind::text:
      return "'" + std::string(pickle.text(value)) + "'";
    case PickleKind::bytes:
      return "bytes";
    case PickleKind::list:
      return list("[", "]");
    case PickleKind::tuple:
      return list("(", ")");
    case PickleKind::set:
      return list("{", "}");
    case PickleKind::dict:
      return list("dict(", ")");
    case PickleKind::object:
      return "?";
  }
  return {};
}

std::string printed(const std::string& bytes) {
  const Pickle pickle(bytes);
  return printed(pickle, pickle.root());
}

struct Case {
  std::string bytes;
  std::string value;
};

TEST(Pickle, EveryOpcodeOfPlainData) {
  const std::array cases = {
      Case{"N.", "None"},
      Case{"\x80\x02\x88.", "True"},
      Case{"\x80\x02\x89.", "False"},
      Case{"I01\n.", "True"},
      Case{"I00\n.", "False"},
      Case{"I-12\n.", "-12"},
      Case{"L1234567890123L\n.", "1234567890123"},
      Case{"J\xFE\xFF\xFF\xFF.", "-2"},
      Case{"K\xFF.", "255"},
      Case{"M\x01\x02.", "513"},
      Case{"\x80\x02\x8A\x05\x00\x00\x00\x00\x01."s, "4294967296"},
      Case{"\x80\x02\x8A\x00."s, "0"},
      Case{"\x80\x02\x8A\x01\xFF.", "-1"},
      Case{"\x80\x02\x8B\x02\x00\x00\x00\x00\x80."s, "-32768"},
      Case{"\x80\x02\x8A\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."s, "?"},  // 2^64
      Case{"F1.5\n.", "1.500000"},
      Case{"G\x3F\xF8\x00\x00\x00\x00\x00\x00."s, "1.500000"},
      Case{"S'it\\'s\\x41\\n'\n.", "'it'sA\n'"},
      Case{"Va\\u00e9\xE9\\U0001F600\n.", "'aéé😀'"},
      Case{"T\x02\x00\x00\x00hi."s, "'hi'"},
      Case{"U\x02hi.", "'hi'"},
      Case{"X\x02\x00\x00\x00hi."s, "'hi'"},
      Case{"\x80\x04\x8C\x02hi.", "'hi'"},
      Case{"\x80\x04\x8D\x02\x00\x00\x00\x00\x00\x00\x00hi."s, "'hi'"},
      Case{"\x80\x03"
           "C\x02hi.",
           "bytes"},
      Case{"\x80\x03"
           "B\x02\x00\x00\x00hi."s,
           "bytes"},
      Case{"\x80\x04\x8E\x02\x00\x00\x00\x00\x00\x00\x00hi."s, "bytes"},
      Case{"\x80\x05\x96\x02\x00\x00\x00\x00\x00\x00\x00hi."s, "bytes"},
      Case{"].", "[]"},
      Case{"(K\x01K\x02l.", "[1, 2]"},
      Case{"]K\x01"
           "a.",
           "[1]"},
      Case{"](K\x01K\x02"
           "e.",
           "[1, 2]"},
      Case{").", "()"},
      Case{"(K\x01K\x02t.", "(1, 2)"},
      Case{"\x80\x02K\x01\x85.", "(1)"},
      Case{"\x80\x02K\x01K\x02\x86.", "(1, 2)"},
      Case{"\x80\x02K\x01K\x02K\x03\x87.", "(1, 2, 3)"},
      Case{"}.", "dict()"},
      Case{"(U\x01"
           "aK\x01"
           "d.",
           "dict('a', 1)"},
      Case{"}U\x01"
           "aK\x01s.",
           "dict('a', 1)"},
      Case{"}(U\x01"
           "aK\x01U\x01"
           "bK\x02u.",
           "dict('a', 1, 'b', 2)"},
      Case{"\x80\x04\x8F(K\x01\x90.", "{1}"},
      Case{"\x80\x04(K\x01\x91.", "{1}"},
      Case{"K\x01K\x02"
           "0.",
           "1"},
      Case{"K\x01(K\x02"
           "1.",
           "1"},
      Case{"]K\x01"
           "2a.",
           "1"},  // refused below: 1 is no list
      Case{"(K\x07p5\ng5\nt.", "(7, 7)"},
      Case{"(K\x07q\x05h\x05t.", "(7, 7)"},
      Case{"(K\x07r\x05\x00\x00\x00j\x05\x00\x00\x00t."s, "(7, 7)"},
      Case{"\x80\x04\x95\x09\x00\x00\x00\x00\x00\x00\x00(K\x07\x94h\x00t."s, "(7, 7)"},
      Case{"]q\x00h\x00"
           "a."s,
           "[[[[[[[[…]]]]]]]]"},  // a list in itself
  };
  for (const Case& one : cases) {
    const Pickle pickle(one.bytes);
    if (one.bytes ==
        "]K\x01"
        "2a.") {
      EXPECT_EQ(pickle.end(), PickleEnd::damaged);
      continue;
    }
    EXPECT_EQ(printed(pickle, pickle.root()), one.value) << one.bytes;
    EXPECT_EQ(pickle.end(), PickleEnd::whole) << one.bytes;
    EXPECT_EQ(pickle.refused_calls(), 0U) << one.bytes;
  }
}

TEST(Pickle, CallsAreRefusedAndNamed) {
  const std::array<std::string, 6> cases = {
      "cos\nsystem\n(S'rm -rf /'\ntR."s,                       // GLOBAL, REDUCE
      "\x80\x04\x8C\x02os\x8C\x06system\x93\x8C\x02ls\x85R.",  // STACK_GLOBAL
      "(S'ls'\nios\nsystem\n."s,                               // INST
      "(cos\nsystem\nS'ls'\no."s,                              // OBJ
      "\x80\x02"
      "cos\nsystem\n)\x81.",  // NEWOBJ
      "\x80\x04"
      "cos\nsystem\n)}\x92.",  // NEWOBJ_EX
  };
  for (const std::string& bytes : cases) {
    const Pickle pickle(bytes);
    EXPECT_EQ(pickle.kind(pickle.root()), PickleKind::object);
    EXPECT_EQ(pickle.first_refused(), "os.system");
    EXPECT_EQ(pickle.refused_calls(), 1U);
    EXPECT_EQ(pickle.end(), PickleEnd::whole);
  }
  EXPECT_EQ(printed("cos\nsystem\n}b."), "?");  // BUILD
  EXPECT_EQ(printed("P7\n."), "?");
  EXPECT_EQ(printed("K\x01Q."), "?");
  EXPECT_EQ(printed("\x80\x02\x82\x01."), "?");
  EXPECT_EQ(printed("\x80\x02\x83\x01\x01."), "?");
  EXPECT_EQ(printed("\x80\x02\x84\x01\x01\x01\x01."), "?");
  EXPECT_EQ(printed("\x80\x05\x97\x98."), "?");
}

TEST(Pickle, DictsWithAnOrderAreDicts) {
  EXPECT_EQ(printed("\x80\x02"
                    "ccollections\nOrderedDict\n)R(U\x01"
                    "aK\x01u."),
            "dict('a', 1)");
}

TEST(Pickle, OfTwoWithOneKeyTheLaterCounts) {
  const Pickle pickle(
      "}(U\x01"
      "aK\x01U\x01"
      "aK\x02u.");
  EXPECT_EQ(pickle.integer(pickle.find(pickle.root(), "a").value()), 2);
  EXPECT_FALSE(pickle.find(pickle.root(), "b").has_value());
}

TEST(Pickle, WhatACutLeftHalfBuiltIsFinished) {
  // {'a': [1, 2], 'b': [[3, 4 …
  const std::string whole =
      "}(U\x01"
      "a](K\x01K\x02"
      "eU\x01"
      "b](](K\x03K\x04"
      "eeu."s;
  EXPECT_EQ(printed(whole), "dict('a', [1, 2], 'b', [[3, 4]])");
  EXPECT_EQ(printed(whole.substr(0, whole.size() - 4)), "dict('a', [1, 2], 'b', [[3, 4]])");
  EXPECT_EQ(printed(whole.substr(0, whole.size() - 5)), "dict('a', [1, 2], 'b', [[3]])");
  EXPECT_EQ(Pickle(whole.substr(0, 8)).end(), PickleEnd::cut_off);
  // A list of one item has no mark: {'b': [[3, 4 …
  EXPECT_EQ(printed("}(U\x01"
                    "b]](K\x03K\x04"),
            "dict('b', [[3, 4]])");
}

TEST(Pickle, DamageEndsItQuietly) {
  for (const std::string& bytes :
       {"."s, "a."s, "0."s, "t."s, "]s."s,
        "K\x01"
        "a."s,
        "h\x05."s, "q\x00."s, "R."s, "\xFF"s, ""s, "S'x\n."s, "}(K\x01u."s, "g-1\n."s,
        "r\xFF\xFF\xFF\xFF."s, "Kp9999999999\n."s}) {
    EXPECT_NE(Pickle(bytes).end(), PickleEnd::whole) << bytes;
  }
}

TEST(Pickle, MemoryIsBoundedByTheSize) {
  // Empty containers, a byte each.
  EXPECT_EQ(Pickle(std::string(1 << 20, '}')).end(), PickleEnd::damaged);
  EXPECT_EQ(Pickle(std::string(1 << 20, '(')).end(), PickleEnd::cut_off);
}

// Python's own pickler, in every protocol.
TEST(Pickle, PythonsPicklesInAllProtocols) {
  if (std::system("python3 -c pass 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
  for (int protocol = 0; protocol <= 5; ++protocol) {
    const std::string script =
        "python3 -c \"import pickle, sys; s = {'segments': [{'a': 1}], 'n': None, 'yes': True, "
        "'no': False, 'big': 2**40, 'less': -70000, 'real': 1.5, 'text': 'h\\u00e9', "
        "'tuple': (1, 2, 3, 4), 'empty': []}; s['again'] = s['segments']; "
        "sys.stdout.buffer.write(pickle.dumps(s, " +
        std::to_string(protocol) + "))\"";
    FILE* python = popen(script.c_str(), "r");
    std::string bytes;
    for (int c = fgetc(python); c != EOF; c = fgetc(python)) bytes += static_cast<char>(c);
    pclose(python);
    EXPECT_EQ(printed(bytes),
              "dict('segments', [dict('a', 1)], 'n', None, 'yes', True, 'no', False, 'big', "
              "1099511627776, 'less', -70000, 'real', 1.500000, 'text', 'hé', 'tuple', "
              "(1, 2, 3, 4), 'empty', [], 'again', [dict('a', 1)])")
        << "protocol " << protocol;
  }
}

}  // namespace fathom::trace::pickle_test
