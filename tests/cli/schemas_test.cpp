// Each JSON that the program writes says which schema of docs/ it follows and which version wrote
// it, and does follow it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"
#include "cli/schema.h"

namespace fathom::cli::schemas_test {

using nlohmann::json;

const std::vector<std::string> kNone = {};

void expect_document(const std::string& name, const std::string& text) {
  ASSERT_TRUE(json::accept(text)) << name << ": " << text;
  const json document = json::parse(text);
  EXPECT_EQ(faults_against(name, document), kNone) << name;
  EXPECT_EQ(document["schema"], "https://fathom.invalid/" + name + ".schema.json");
  EXPECT_EQ("fathom " + document["fathom"].get<std::string>() + "\n",
            run_program({"--version"}).out);
}

// Traces with GPU work, memory, several ranks; without any; damaged ones.
std::vector<std::string> traces() {
  const std::string golden = FATHOM_SOURCE_DIR "/tests/golden/";
  return {golden + "training_step/trace.json", golden + "exposed_communication/trace.json",
          golden + "memory/trace.json", golden + "input_bound/trace.json"};
}

TEST(Schemas, AreFollowedByEachCommand) {
  for (const std::string& trace : traces()) {
    SCOPED_TRACE(trace);
    for (const std::string command : {"report", "flame", "timeline", "memory", "hta", "suggest"}) {
      const Outcome outcome = run_program({command, trace, "--json"});
      ASSERT_EQ(outcome.status, 0) << outcome.err;
      expect_document(command, outcome.out);
    }
    expect_document("compare", run_program({"compare", trace, "--with", trace, "--json"}).out);
    expect_document("history",
                    run_program({"compare", "--history", trace, trace, trace, "--json"}).out);
  }
  expect_document("hta",
                  run_program({"hta", FATHOM_SOURCE_DIR "/tests/golden/two_ranks", "--json"}).out);
  expect_document("flame", run_program({"flame", traces()[0], "--weight", "count", "--json"}).out);
}

TEST(Schemas, AreFollowedForFilesWithLittleInThem) {
  const Scratch scratch;
  for (const char* text :
       {R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}])", R"({"traceEvents":[]})",
        R"([{"ph":"B","name":"open","pid":1,"tid":1,"ts":1},{"ph":"X","name":"k","cat":"kernel",)"
        R"("pid":0,"tid":7,"ts":-9223372036854775,"dur":0,"args":{"stream":7,"device":-3}}])",
        R"([{"operation":"a","duration_ms":1},{"operation":"b"}])"}) {
    const std::string trace = scratch.write("trace.json", text);
    SCOPED_TRACE(text);
    for (const std::string command : {"report", "flame", "timeline", "memory", "hta", "suggest"}) {
      const Outcome outcome = run_program({command, trace, "--json"});
      if (outcome.status == 0) expect_document(command, outcome.out);
    }
  }
}

TEST(Schemas, AreFollowedByARecordedRun) {
  const Scratch scratch;
  const RunOptions here = {.folder = scratch.path("")};
  const Outcome recorded = run_program(
      {"profile", "--json", "s.json", "--", FATHOM_BINARY_DIR "/bin/scoped_program"}, here);
  EXPECT_EQ(recorded.signal, 0) << recorded.err;
  expect_document("session", content_of(scratch.path("s.json")));
  const Outcome report = run_program({"report", "run.pftrace", "--json"}, here);
  expect_document("report", report.out);
  EXPECT_TRUE(json::parse(report.out).contains("session"));
  expect_document("memory", run_program({"memory", "run.pftrace", "--json"}, here).out);
}

TEST(Schemas, OfProfilesAreFollowedByWhatIsConverted) {
  const Scratch scratch;
  for (const std::string& trace : traces()) {
    const std::string profile = scratch.path("out.profile.json");
    ASSERT_EQ(run_program({"convert", trace, profile, "--force"}).status, 0);
    const json document = json::parse(content_of(profile));
    EXPECT_EQ(faults_against("profile", document), kNone) << trace;
    EXPECT_TRUE(document.contains("fathom"));
    expect_document("report", run_program({"report", profile, "--json"}).out);
  }
}

TEST(Schemas, HaveAnIdEach) {
  int schemas = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FATHOM_SOURCE_DIR "/docs")) {
    const std::string file = entry.path().filename().string();
    constexpr std::string_view kEnding = ".schema.json";
    if (!file.ends_with(kEnding)) continue;
    ++schemas;
    const json schema = json::parse(content_of(entry.path().string()));
    EXPECT_EQ(schema["$id"], "https://fathom.invalid/" + file);
    EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  }
  EXPECT_EQ(schemas, 17);
}

TEST(Schemas, OfAnswersAreNoTraces) {
  const Scratch scratch;
  const std::string answer = scratch.path("answer.json");
  for (const std::string command : {"compare", "report"}) {
    std::vector<std::string> words = {command, traces()[0], "--json", answer};
    if (command == "compare") words.insert(words.end(), {"--with", traces()[0]});
    std::filesystem::remove(answer);
    ASSERT_EQ(run_program(words).status, 0);
    const Outcome outcome = run_program({"report", answer});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find("not a trace: JSON that a command of fathom wrote"),
              std::string::npos)
        << outcome.err;
  }
}

}  // namespace fathom::cli::schemas_test
