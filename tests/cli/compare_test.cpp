#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "cli/run_program.h"
#include "cli/schema.h"

namespace fathom::cli::compare_test {

nlohmann::json call(const std::string& name, double ts, double dur) {
  return {{"ph", "X"}, {"cat", "cpu_op"}, {"name", name}, {"pid", 1},
          {"tid", 1},  {"ts", ts},        {"dur", dur}};
}

// A run of two operations, 30 calls each, with a little noise; `slow` stretches the second.
std::string run_text(std::uint64_t seed, double slow) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> noise(0.99, 1.01);
  nlohmann::json events;
  double at = 0;
  for (int i = 0; i < 30; ++i) {
    for (const auto& [name, us] : {std::pair("steady", 100.0), std::pair("moved", 200 * slow)}) {
      const double duration = us * noise(random);
      events.push_back(call(name, at, duration));
      at += duration + 1;
    }
  }
  return events.dump();
}

// Paragraphs as they were before they were broken into lines.
std::string in_one_line(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos;) {
    text.replace(at, 3, " ");
  }
  return text;
}

class Compare : public ::testing::Test {
 protected:
  Outcome compare(std::size_t runs, double slow, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"compare"};
    for (std::size_t i = 0; i < runs; ++i) {
      words.push_back(scratch_.write("base" + std::to_string(i), run_text(i, 1)));
    }
    words.emplace_back("--with");
    for (std::size_t i = 0; i < runs; ++i) {
      words.push_back(scratch_.write("now" + std::to_string(i), run_text(100 + i, slow)));
    }
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  Scratch scratch_;
};

TEST_F(Compare, GateIsZeroWhereNothingGotSlower) {
  EXPECT_EQ(compare(5, 1, {"--gate"}).status, 0);
  EXPECT_EQ(compare(5, 0.8, {"--gate"}).status, 0);
}

TEST_F(Compare, GateIsOneForARegression) {
  const Outcome outcome = compare(5, 1.2, {"--gate"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("SLOWER"), std::string::npos) << outcome.out;
}

TEST_F(Compare, GateIsTwoForBadInput) {
  EXPECT_EQ(run_program({"compare", "no such file", "--with", "nor this", "--gate"}).status, 2);
  EXPECT_EQ(run_program({"compare", "one side only"}).status, 2);
  EXPECT_EQ(run_program({"compare", "--repeat", "2", "--", "true"}).status, 2);
}

TEST_F(Compare, GateIsThreeWhereOneRunPerSideIsInconclusive) {
  EXPECT_EQ(compare(1, 1.2, {"--gate"}).status, 3);
  EXPECT_EQ(compare(1, 1.2, {"--gate", "--single-run-gate"}).status, 1);
}

// Calls of one operation, as long as asked for.
std::string calls_text(const std::string& name, int count, double us,
                       const std::string& more = {}) {
  nlohmann::json events;
  double at = 0;
  for (int i = 0; i < count; ++i, at += us + 1)
    events.push_back(call(name, at, us + 0.01 * (i % 7)));
  if (!more.empty()) events.push_back(call(more, at, 3000));
  return events.dump();
}

TEST_F(Compare, ARunThatIsTwiceAsLongIsNoCleanRun) {
  const std::string base = scratch_.write("base", calls_text("x", 30, 100));
  const std::string now = scratch_.write("now", calls_text("x", 60, 100));
  EXPECT_EQ(run_program({"compare", base, "--with", now, "--gate"}).status, 3);
}

TEST_F(Compare, TheOrderOfRunsDoesNotMatter) {
  const std::string fast = scratch_.write("fast", calls_text("x", 30, 100));
  const std::string slow = scratch_.write("slow", calls_text("x", 30, 200));
  const auto changes = [&](std::vector<std::string> base) {
    std::vector<std::string> words = {"compare", "--with", slow, "--json", "--threshold", "5"};
    words.insert(words.begin() + 1, base.begin(), base.end());
    return nlohmann::json::parse(run_program(words).out)["operations"][0]["change_percent"];
  };
  EXPECT_EQ(changes({fast, slow, slow}), changes({slow, fast, slow}));
}

TEST_F(Compare, WhatOneOfSeveralRunsHasIsNoSuspect) {
  std::vector<std::string> words = {"compare"};
  for (int side = 0; side < 2; ++side) {
    if (side == 1) words.emplace_back("--with");
    for (int i = 0; i < 5; ++i) {
      const std::string extra = i == 0 ? "seldom" : "";
      std::string text = calls_text("x", 30, 100 + 0.1 * i, extra);
      if (side == 1 && i == 0) text.replace(text.find("3000"), 4, "9000");
      words.push_back(scratch_.write(fmt::format("{}{}", side, i), text));
    }
  }
  words.insert(words.end(), {"--json", "--single-run-gate"});
  const nlohmann::json all = nlohmann::json::parse(run_program(words).out);
  for (const nlohmann::json& operation : all["operations"]) {
    if (operation["operation"] != "seldom") continue;
    EXPECT_FALSE(operation["is_suspect"]) << operation;
    EXPECT_EQ(operation["change_type"], "INCONCLUSIVE") << operation;
  }
}

TEST_F(Compare, JsonDoesNotReplaceATrace) {
  const std::string base = scratch_.write("base.json", calls_text("x", 30, 100));
  const std::string text = content_of(base);
  const Outcome outcome = run_program({"compare", "--json", base, base, "--with", base});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("not overwritten"), std::string::npos) << outcome.err;
  EXPECT_EQ(content_of(base), text);
  const std::string out = scratch_.path("changes.json");
  for (int twice = 0; twice < 2; ++twice) {
    EXPECT_EQ(run_program({"compare", base, "--with", base, "--json", out}).status, 0);
  }
}

TEST_F(Compare, JsonNamesWhatChangedAndByHowMuch) {
  const Outcome outcome = compare(5, 1.2, {"--json"});
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["summary"]["REGRESSION"], 1);
  EXPECT_EQ(json["summary"]["NO_CHANGE"], 1);
  const nlohmann::json& first = json["operations"][0];
  EXPECT_EQ(first["operation"], "moved");
  EXPECT_EQ(first["change_type"], "REGRESSION");
  EXPECT_NEAR(first["change_percent"], 20, 1);
  EXPECT_NEAR(first["baseline_time_ms"], 0.2, 0.01);
}

TEST_F(Compare, JsonIsAsItsSchemaSays) {
  const std::string empty = scratch_.write("empty.json", R"({"traceEvents": []})");
  for (const Outcome& outcome : {compare(1, 1.2, {"--json"}), compare(3, 1, {"--json"}),
                                 run_program({"compare", empty, "--with", empty, "--json"})}) {
    EXPECT_EQ(faults_against("compare", nlohmann::json::parse(outcome.out)),
              std::vector<std::string>{});
  }
}

TEST_F(Compare, ATailThatGrewIsReportedBesideACentreThatHeld) {
  const auto side = [&](const char* name, int slow_calls) {
    std::vector<std::string> files;
    for (int run = 0; run < 3; ++run) {
      nlohmann::json events;
      for (int i = 0; i < 100; ++i) {
        const double dur = (i < slow_calls ? 900 : 100) + (i * 7 + run) % 5;
        events.push_back(call("work", i * 1000.0, dur));
      }
      files.push_back(scratch_.write(name + std::to_string(run), events.dump()));
    }
    return files;
  };
  std::vector<std::string> words = {"compare"};
  for (const std::string& file : side("before", 2)) words.push_back(file);
  words.emplace_back("--with");
  for (const std::string& file : side("now", 10)) words.push_back(file);
  const Outcome text = run_program(words);
  EXPECT_NE(text.out.find("work: mean +"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("; p95 10"), std::string::npos) << text.out;
  words.emplace_back("--json");
  const nlohmann::json json = nlohmann::json::parse(run_program(words).out);
  EXPECT_EQ(json["operations"][0]["change_type"], "NO_CHANGE");
  EXPECT_EQ(json["operations"][0]["is_tail_changed"], true);
  EXPECT_GT(json["operations"][0]["mean_change_percent"], 40);
}

TEST_F(Compare, ALossIsReportedBesideALargerGain) {
  const auto side = [&](const char* name, double gained, double lost) {
    std::vector<std::string> files;
    for (int run = 0; run < 5; ++run) {
      nlohmann::json events;
      for (int i = 0; i < 40; ++i) {
        const double wobble = 1 + ((i * 7 + run * 3) % 11 - 5) / 1000.0;
        events.push_back(call("gained", i * 2000.0, gained * wobble));
        events.push_back(call("lost", i * 2000.0 + 1500, lost * wobble));
      }
      files.push_back(scratch_.write(name + std::to_string(run), events.dump()));
    }
    return files;
  };
  std::vector<std::string> words = {"compare"};
  for (const std::string& file : side("before", 1000, 100)) words.push_back(file);
  words.emplace_back("--with");
  for (const std::string& file : side("now", 500, 120)) words.push_back(file);
  const Outcome outcome = run_program(words);
  EXPECT_NE(in_one_line(outcome.out)
                .find("The largest difference is gained: −20.0 ms of the run. 1 operation "
                      "got slower: lost (+20.0 %)."),
            std::string::npos)
      << outcome.out;
}

// The largest difference is a loss; the run got faster all the same, by what two others gained.
TEST_F(Compare, AFasterRunIsHeadlinedByWhatMadeItFaster) {
  const auto side = [&](const char* name, double first, double second, double lost) {
    std::vector<std::string> files;
    for (int run = 0; run < 5; ++run) {
      nlohmann::json events;
      double at = 0;
      for (int i = 0; i < 40; ++i) {
        const double wobble = 1 + ((i * 7 + run * 3) % 11 - 5) / 1000.0;
        for (const auto& [operation, length] :
             {std::pair{"first", first}, {"second", second}, {"lost", lost}}) {
          events.push_back(call(operation, at, length * wobble));
          at += length * wobble;
        }
      }
      files.push_back(scratch_.write(name + std::to_string(run), events.dump()));
    }
    return files;
  };
  std::vector<std::string> words = {"compare"};
  for (const std::string& file : side("before", 1000, 800, 300)) words.push_back(file);
  words.emplace_back("--with");
  for (const std::string& file : side("now", 700, 550, 620)) words.push_back(file);
  const std::string said = in_one_line(run_program(words).out);
  EXPECT_NE(said.find("faster). The largest gain is first: −12.0 ms of the run. 1 operation got "
                      "slower: lost (+106.7 %)."),
            std::string::npos)
      << said;
}

// Two calls each prove nothing of the run.
TEST_F(Compare, ARunThatLooksFasterIsHeadlinedByAGainToo) {
  const auto side = [&](const char* name, double gained, double second, double lost) {
    nlohmann::json events;
    double at = 0;
    for (int i = 0; i < 2; ++i) {
      for (const auto& [operation, length] : {std::pair{"gained", gained + i * 30},
                                              {"second", second + i * 30},
                                              {"lost", lost - i}}) {
        events.push_back(call(operation, at, length));
        at += length;
      }
    }
    return scratch_.write(name, events.dump());
  };
  const Outcome outcome = run_program(
      {"compare", side("before", 1000, 800, 300), "--with", side("now", 700, 550, 620)});
  EXPECT_NE(in_one_line(outcome.out).find("The largest gain is gained: −"), std::string::npos)
      << outcome.out;
}

TEST_F(Compare, AMixOfLevelsThatMovedIsReported) {
  const auto side = [&](const char* name, int slow_calls) {
    nlohmann::json events;
    for (int i = 0; i < 100; ++i) {
      events.push_back(call("work", i * 1000.0, (i < slow_calls ? 150 : 100) + i % 3));
    }
    return scratch_.write(name, events.dump());
  };
  const Outcome outcome = run_program({"compare", side("before", 30), "--with", side("now", 55)});
  EXPECT_NE(outcome.out.find("30 % of the calls on the slower of two levels before, 55 % now"),
            std::string::npos)
      << outcome.out;
}

TEST_F(Compare, AShiftThatAllShareIsReportedOnce) {
  const auto side = [&](const char* name, double factor) {
    nlohmann::json events;
    for (int i = 0; i < 240; ++i) {
      const int kind = i % 8;
      events.push_back(
          call("work" + std::to_string(kind), i * 1000.0, (100 + 20 * kind + i % 3) * factor));
    }
    return scratch_.write(name, events.dump());
  };
  const std::string before = side("before", 1);
  const std::string now = side("now", 1.04);
  const Outcome text = run_program({"compare", before, "--with", now});
  EXPECT_NE(in_one_line(text.out).find(
                "Nearly every operation changed by +4.0 %: usually clocks, not code."),
            std::string::npos)
      << text.out;
  const Outcome json = run_program({"compare", before, "--with", now, "--json"});
  EXPECT_NEAR(nlohmann::json::parse(json.out)["summary"]["common_shift_percent"], 4, 0.1);
}

TEST_F(Compare, NewGoneAndMoreOftenCalledOperationsAreReported) {
  const auto side = [&](const char* name, const char* only_here, int calls) {
    nlohmann::json events;
    for (int i = 0; i < calls; ++i) events.push_back(call("both", i * 1000.0, 100 + i % 3));
    events.push_back(call(only_here, 1e6, 200));
    return scratch_.write(name, events.dump());
  };
  const std::string before = side("before", "old", 20);
  const std::string now = side("now", "fresh", 60);
  const Outcome text = run_program({"compare", before, "--with", now});
  EXPECT_NE(text.out.find("1 new · 1 gone"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("20 → 60"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("1 operation is called more often\n"), std::string::npos) << text.out;
  const nlohmann::json json =
      nlohmann::json::parse(run_program({"compare", before, "--with", now, "--json"}).out);
  EXPECT_EQ(json["summary"]["NEW"], 1);
  EXPECT_EQ(json["summary"]["REMOVED"], 1);
  EXPECT_EQ(json["operations"][0]["baseline_calls"], 20);
  EXPECT_EQ(json["operations"][0]["current_calls"], 60);
}

// A profile of one scope, 50 calls, that needs so much memory.
std::string profile_text(double memory_mb) {
  return nlohmann::json{{"summary",
                         {{"infer",
                           {{"call_count", 50},
                            {"total_time_ms", 500},
                            {"avg_time_ms", 10},
                            {"std_dev_ms", 0.1},
                            {"peak_memory_mb", memory_mb}}}}}}
      .dump();
}

TEST_F(Compare, MemoryOfAnOperationAndOfTheRunIsReported) {
  const std::string before = scratch_.write("before", profile_text(100));
  const std::string now = scratch_.write("now", profile_text(150));
  const Outcome text = run_program({"compare", before, "--with", now});
  EXPECT_NE(text.out.find("infer: 100.0 MB → 150.0 MB of device memory"), std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("peak device memory: 100 MB before, 150 MB now (+50.0 %)"),
            std::string::npos)
      << text.out;
  const nlohmann::json json =
      nlohmann::json::parse(run_program({"compare", before, "--with", now, "--json"}).out);
  EXPECT_EQ(json["operations"][0]["memory_change_mb"], 50);
  EXPECT_NEAR(json["summary"]["peak_memory_change_percent"], 50, 0.01);
}

TEST_F(Compare, AnEmptyRunSaysThatItIs) {
  const std::string run = scratch_.write("run", run_text(1, 1));
  const std::string empty = scratch_.write("empty.json", R"({"traceEvents": []})");
  const Outcome now = run_program({"compare", run, "--with", empty, "--gate"});
  EXPECT_EQ(now.status, 3);
  EXPECT_NE(now.out.find("no operations in the runs now"), std::string::npos) << now.out;
  const Outcome before = run_program({"compare", empty, "--with", run});
  EXPECT_EQ(before.status, 0);
  EXPECT_NE(before.out.find("no operations in the runs before"), std::string::npos) << before.out;
  const Outcome both = run_program({"compare", empty, "--with", empty});
  EXPECT_NE(both.out.find("no operations on either side"), std::string::npos) << both.out;
}

TEST_F(Compare, AnotherProgramIsNotComparable) {
  const std::string other = scratch_.write(
      "other", R"([{"ph":"X","cat":"cpu_op","name":"else","pid":1,"tid":1,"ts":0,"dur":500}])");
  const Outcome outcome =
      run_program({"compare", scratch_.write("base", run_text(1, 1)), "--with", other, "--gate"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_NE(outcome.out.find("not runs of one program"), std::string::npos) << outcome.out;
}

TEST_F(Compare, ARunWithItselfIsTheSame) {
  const std::string run = scratch_.write("base", run_text(1, 1));
  const Outcome outcome = run_program({"compare", run, "--with", run, "--gate"});
  EXPECT_EQ(outcome.status, 0) << outcome.out;
}

TEST_F(Compare, RecordsTwoCommandsInTurn) {
  Scratch folder;
  const Outcome outcome = run_program({"compare", "--repeat", "2", "--", "true", ":::", "true"},
                                      {.folder = folder.path("")});
  EXPECT_NE(outcome.out.find("2 runs and 2 runs"), std::string::npos) << outcome.err << outcome.out;
}

// A kernel of one name that works on two sizes, of which the larger gets slower.
std::string two_sizes(std::uint64_t seed, double slow) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> noise(0.99, 1.01);
  nlohmann::json events;
  double at = 0;
  for (int i = 0; i < 60; ++i) {
    const bool is_large = i % 2 == 1;
    const double duration = (is_large ? 300 * slow : 100) * noise(random);
    events.push_back(
        {{"ph", "X"},
         {"cat", "kernel"},
         {"name", "gemm"},
         {"pid", 0},
         {"tid", 7},
         {"ts", at},
         {"dur", duration},
         {"args", {{"grid", {is_large ? 64 : 8, 1, 1}}, {"block", {256, 1, 1}}, {"stream", 7}}}});
    at += duration + 1;
  }
  return events.dump();
}

TEST_F(Compare, CallsOfOneNameThatWorkOnDifferentSizesAreComparedByThemselves) {
  std::vector<std::string> words = {"compare"};
  for (std::size_t i = 0; i < 5; ++i) {
    words.push_back(scratch_.write("base" + std::to_string(i), two_sizes(i, 1)));
  }
  words.emplace_back("--with");
  for (std::size_t i = 0; i < 5; ++i) {
    words.push_back(scratch_.write("now" + std::to_string(i), two_sizes(100 + i, 1.2)));
  }
  words.emplace_back("--json");
  const Outcome outcome = run_program(words);
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(json["operations"].size(), 2U) << outcome.out;
  const nlohmann::json& large = json["operations"][0];
  const nlohmann::json& small = json["operations"][1];
  EXPECT_EQ(large["label"], "gemm · grid 64x1x1, block 256x1x1");
  EXPECT_EQ(large["operation"], "gemm");
  EXPECT_EQ(large["shape"], "grid 64x1x1, block 256x1x1");
  EXPECT_EQ(large["change_type"], "REGRESSION");
  EXPECT_NEAR(large["change_percent"], 20, 1);
  EXPECT_EQ(small["shape"], "grid 8x1x1, block 256x1x1");
  EXPECT_EQ(small["change_type"], "NO_CHANGE");
}

}  // namespace fathom::cli::compare_test
