#include "trace/read/snapshot/pickle_machine.h"

#include <bit>
#include <utility>

#include "trace/read/snapshot/pickle_text.h"

namespace fathom::trace {
namespace {

constexpr PickleRef kNone = 0;  // the first node there is
constexpr std::size_t kBytesAContainer = 8;
constexpr std::size_t kFreeContainers = 1024;

}  // namespace

PickleMachine::PickleMachine(Pickle& into, std::string_view bytes)
    : to_(into), bytes_(bytes), max_containers_(kFreeContainers + bytes.size() / kBytesAContainer) {
  to_.nodes_.emplace_back();
}

void PickleMachine::run() {
  try {
    while (true) step(take(1)[0]);
  } catch (const Stop& stop) {
    to_.end_ = stop.end;
  }
  to_.position_ = at_;
  if (to_.end_ != PickleEnd::whole) collapse();
  to_.root_ = stack_.empty() ? kNone : stack_.front();
}

void PickleMachine::step(char opcode) {
  if (step_constant(opcode) || step_text(opcode) || step_container(opcode) || step_memo(opcode) ||
      step_call(opcode)) {
    return;
  }
  switch (opcode) {
    case '.':
      if (stack_.empty()) throw Stop{PickleEnd::damaged};
      stack_ = {stack_.back()};
      throw Stop{PickleEnd::whole};
    case '\x80':  // PROTO
      take(1);
      return;
    case '\x95':  // FRAME: its length is of use to those who read ahead
      take(8);
      return;
    case '0':
      // What Python's own machine does with a mark on top: takes that.
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        marks_.pop_back();
      } else {
        pop();
      }
      return;
    case '1':
      pop_to_mark();
      return;
    case '2':
      push(top());
      return;
    default:
      --at_;
      throw Stop{PickleEnd::damaged};
  }
}

bool PickleMachine::step_constant(char opcode) {
  switch (opcode) {
    case 'N':
      push(kNone);
      return true;
    case '\x88':
    case '\x89': {
      Node node{PickleKind::boolean, 0, {}};
      node.integer = opcode == '\x88' ? 1 : 0;
      push_node(node);
      return true;
    }
    case 'I':
      push_int_line(take_line());
      return true;
    case 'L':
      push_integer(decode_decimal(take_line()));
      return true;
    case 'J':
      push_integer(static_cast<std::int32_t>(take_number(4)));
      return true;
    case 'K':
      push_integer(static_cast<std::int64_t>(take_number(1)));
      return true;
    case 'M':
      push_integer(static_cast<std::int64_t>(take_number(2)));
      return true;
    case '\x8A':
      push_integer(decode_long(take(take_number(1))));
      return true;
    case '\x8B':
      push_integer(decode_long(take(take_number(4))));
      return true;
    case 'F':
      push_float_line(take_line());
      return true;
    case 'G': {
      std::uint64_t bits = 0;
      for (const char byte : take(8)) bits = bits << 8 | static_cast<unsigned char>(byte);
      Node node{PickleKind::real, 0, {}};
      node.real = std::bit_cast<double>(bits);
      push_node(node);
      return true;
    }
    default:
      return false;
  }
}

bool PickleMachine::step_text(char opcode) {
  switch (opcode) {
    case 'S': {
      auto decoded = decode_python_literal(take_line());
      if (!decoded) throw Stop{PickleEnd::damaged};
      push_decoded(std::move(*decoded));
      return true;
    }
    case 'V':
      push_decoded(decode_raw_unicode(take_line()));
      return true;
    case 'T':
    case 'X':
      push_text(take(take_number(4)));
      return true;
    case 'U':
    case '\x8C':
      push_text(take(take_number(1)));
      return true;
    case '\x8D':
      push_text(take(take_number(8)));
      return true;
    case 'C':
      push_text(take(take_number(1)), PickleKind::bytes);
      return true;
    case 'B':
      push_text(take(take_number(4)), PickleKind::bytes);
      return true;
    case '\x8E':
    case '\x96':
      push_text(take(take_number(8)), PickleKind::bytes);
      return true;
    default:
      return false;
  }
}

bool PickleMachine::step_container(char opcode) {
  switch (opcode) {
    case '(':
      marks_.push_back(stack_.size());
      return true;
    case ']':
      push_container(PickleKind::list, {});
      return true;
    case '}':
      push_container(PickleKind::dict, {});
      return true;
    case ')':
      push_container(PickleKind::tuple, {});
      return true;
    case '\x8F':
      push_container(PickleKind::set, {});
      return true;
    case 'l':
      push_container(PickleKind::list, pop_to_mark());
      return true;
    case 'd':
      push_container(PickleKind::dict, pop_to_mark());
      return true;
    case 't':
      push_container(PickleKind::tuple, pop_to_mark());
      return true;
    case '\x91':
      push_container(PickleKind::set, pop_to_mark());
      return true;
    case '\x85':
    case '\x86':
    case '\x87':
      push_container(PickleKind::tuple, pop_last(static_cast<unsigned char>(opcode) - 0x84U));
      return true;
    case 'a':
      add(pop_last(1), false);
      return true;
    case 'e':
    case '\x90':
      add(pop_to_mark(), false);
      return true;
    case 's':
      add(pop_last(2), true);
      return true;
    case 'u':
      add(pop_to_mark(), true);
      return true;
    default:
      return false;
  }
}

bool PickleMachine::step_memo(char opcode) {
  switch (opcode) {
    case 'p':
      memoize(static_cast<std::uint64_t>(decode_decimal(take_line()).value_or(-1)));
      return true;
    case 'q':
      memoize(take_number(1));
      return true;
    case 'r':
      memoize(take_number(4));
      return true;
    case '\x94':
      memoize(memoized_);
      return true;
    case 'g':
      get(static_cast<std::uint64_t>(decode_decimal(take_line()).value_or(-1)));
      return true;
    case 'h':
      get(take_number(1));
      return true;
    case 'j':
      get(take_number(4));
      return true;
    default:
      return false;
  }
}

// Everything that would look up or call something. Names are kept, results are opaque.
bool PickleMachine::step_call(char opcode) {
  switch (opcode) {
    case 'c': {
      std::string name(take_line());
      push_object(name.append(".").append(take_line()));
      return true;
    }
    case '\x93': {
      const std::vector<PickleRef> names = pop_last(2);
      std::string name(to_.text(names[0]));
      push_object(name.append(".").append(to_.text(names[1])));
      return true;
    }
    case 'i': {
      std::string name(take_line());
      name.append(".").append(take_line());
      pop_to_mark();
      push_object(name);
      refuse(top(), 1);
      return true;
    }
    case 'o': {
      const std::vector<PickleRef> parts = pop_to_mark();
      if (parts.empty()) throw Stop{PickleEnd::damaged};
      push(parts[0]);
      refuse(parts[0], 1);
      return true;
    }
    case 'R':
      reduce();
      return true;
    case '\x81':
    case '\x92': {
      const std::vector<PickleRef> parts = pop_last(opcode == '\x81' ? 2 : 3);
      push(parts[0]);
      refuse(parts[0], 1);
      return true;
    }
    case 'b':  // BUILD: the state of an object, which is opaque
      pop();
      return true;
    case 'P':
      take_line();
      push_object("a persistent id");
      return true;
    case 'Q':
      pop();
      push_object("a persistent id");
      return true;
    case '\x82':
    case '\x83':
    case '\x84':
      take(std::size_t{1} << (static_cast<unsigned char>(opcode) - 0x82U));
      push_object("a registered class");
      return true;
    case '\x97':
      push_object("a buffer");
      return true;
    case '\x98':
      return true;
    default:
      return false;
  }
}

}  // namespace fathom::trace
