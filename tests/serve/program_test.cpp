// The program itself: fathom serve, fathom token, fathom audit.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"
#include "serve/client.h"

extern char** environ;

namespace fathom::serve {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// `fathom serve` in a folder, with a free port; what it prints is read for its address.
class Program {
 public:
  Program(const cli::Scratch& scratch, std::vector<std::string> options) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addchdir_np(&actions, scratch.path("").c_str());
    std::string program = FATHOM_BINARY_DIR "/bin/fathom";
    std::vector<std::string> words = {program, "serve",       "--demo", "--port",
                                      "0",     "--audit-log", "audit"};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char buffer[4096];
    ssize_t size = 0;
    while (said.find("Ctrl-C") == std::string::npos &&
           (size = read(ends[0], buffer, sizeof buffer)) > 0) {
      said.append(buffer, static_cast<std::size_t>(size));
    }
    close(ends[0]);
    const std::size_t colon = said.find("127.0.0.1:");
    if (colon != std::string::npos)
      port = static_cast<std::uint16_t>(std::atoi(said.c_str() + colon + 10));
    const std::size_t token_at = said.find("#token=");
    if (token_at != std::string::npos)
      token = said.substr(token_at + 7, said.find('\n', token_at) - token_at - 7);
  }
  ~Program() {
    if (child > 0) end(SIGKILL);
  }

  int end(int signal) {
    int status = 0;
    kill(child, signal);
    waitpid(std::exchange(child, 0), &status, 0);
    return status;
  }

  Answer ask(Question question) const {
    question.token = token;
    return serve::ask(port, question);
  }

  pid_t child = 0;
  std::string said;
  std::uint16_t port = 0;
  std::string token;
};

Question start_session() {
  return {.method = "POST",
          .target = "/api/sessions",
          .headers = {"Content-Type: application/json"},
          .body = R"({"name":"night","monitoring_interval_seconds":0.02})"};
}

TEST(ServeProgram, PrintsAnAddressWithATokenThatLetsIn) {
  const cli::Scratch scratch;
  Program program(scratch, {});
  EXPECT_THAT(program.said, HasSubstr("demo"));
  EXPECT_EQ(program.ask({.target = "/api/me"}).body, "{\"role\":\"admin\"}\n");
  EXPECT_EQ(program.end(SIGTERM), 0);
  EXPECT_EQ(cli::run_program({"audit", "verify", scratch.path("audit")}).status, 0);
}

TEST(ServeProgram, ASessionOutlivesKill9WithItsSamples) {
  const cli::Scratch scratch;
  std::string id;
  std::uint64_t samples = 0;
  {
    Program program(scratch, {});
    id = json::parse(program.ask(start_session()).body)["id"];
    while (samples < 100) {  // more than the last second, which may be lost
      const Answer report = program.ask({.target = "/api/sessions/" + id});
      samples = json::parse(report.body)["session"]["snapshots"];
    }
    program.end(SIGKILL);
  }
  Program again(scratch, {});
  const Answer report = again.ask({.target = "/api/sessions/" + id});
  ASSERT_EQ(report.status, 200) << report.body;
  const json session = json::parse(report.body)["session"];
  EXPECT_EQ(session["name"], "night");
  EXPECT_EQ(session["was_interrupted"], true);
  EXPECT_GE(session["snapshots"].get<std::uint64_t>(), samples / 2);
  EXPECT_FALSE(json::parse(report.body)["history"]["times_ms"].empty());
}

TEST(ServeProgram, TokensOfAFileLogInAndNothingIsPrintedOfThem) {
  const cli::Scratch scratch;
  const cli::Outcome made = cli::run_program(
      {"token", "metrics", "--name", "prometheus", "--file", scratch.path("tokens")});
  ASSERT_EQ(made.status, 0) << made.err;
  Program program(scratch, {"--token-file", "tokens"});
  EXPECT_EQ(program.said.find("fathom_"), std::string::npos);
  const std::string token = made.out.substr(0, made.out.size() - 1);
  EXPECT_EQ(ask(program.port, {.target = "/metrics", .token = token}).status, 200);
  EXPECT_EQ(ask(program.port, {.target = "/api/gpu/status", .token = token}).status, 403);
}

TEST(ServeProgram, SaysWhatIsWrongInOneLine) {
  const cli::Scratch scratch;
  const std::string audit = scratch.path("audit");
  const auto said = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"serve", "--demo", "--audit-log", audit});
    const cli::Outcome outcome = cli::run_program(options);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(said({"--address", "0.0.0.0"}), HasSubstr("--tls-cert"));
  EXPECT_THAT(said({scratch.path("nowhere")}), HasSubstr("nowhere"));
  EXPECT_THAT(said({"--token-file", scratch.path("none")}), HasSubstr("fathom token admin"));
  EXPECT_THAT(said({"--tls-cert", "x"}), HasSubstr("--tls-key"));
  EXPECT_THAT(said({"--address", "localhost"}), HasSubstr("not an IP address"));
  EXPECT_THAT(said({"--host", "https://gpu1.example/"}), HasSubstr("Without https:// and path"));
  const std::string missing = scratch.path("missing.pem");
  EXPECT_THAT(said({"--tls-cert", missing, "--tls-key", missing}),
              HasSubstr("missing.pem: No such file"));
  const std::string file = scratch.write("file", "");
  const std::string config =
      scratch.write("fathom.yaml", "gpu_profiler:\n  output_dir: " + file + "/sessions\n");
  EXPECT_THAT(said({"--config", config}), HasSubstr("output_dir"));
}

TEST(AuditProgram, TakesALineWithoutAnEndForNone) {
  const cli::Outcome outcome = cli::run_program({"audit", "verify", "/dev/zero"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("/dev/zero: line 1 "));
  EXPECT_LT(outcome.most_memory, 256 << 20);
}

TEST(AuditProgram, SaysWhereALineIsMissingOrChanged) {
  const cli::Scratch scratch;
  {
    Program program(scratch, {});
    program.ask(start_session());
    program.ask({.target = "/nowhere"});
    program.end(SIGTERM);
  }
  const std::string log = cli::content_of(scratch.path("audit"));
  EXPECT_THAT(cli::run_program({"audit", "verify", scratch.path("audit")}).out,
              HasSubstr("4 lines"));
  const std::size_t second = log.find('\n') + 1;
  scratch.write("removed", log.substr(0, second) + log.substr(log.find('\n', second) + 1));
  const cli::Outcome removed = cli::run_program({"audit", "verify", scratch.path("removed")});
  EXPECT_EQ(removed.status, 1);
  EXPECT_THAT(removed.out,
              HasSubstr("line 2 is number 3 and follows number 1: a line was removed"));
  std::string changed = log;
  const std::string_view created = R"("status":201)";  // a hash may have 201 in it, too
  changed.replace(changed.find(created), created.size(), R"("status":403)");
  scratch.write("changed", changed);
  EXPECT_THAT(cli::run_program({"audit", "verify", scratch.path("changed")}).out,
              HasSubstr("line 2 was changed"));
  scratch.write("emptied", "");
  EXPECT_EQ(cli::run_program({"audit", "verify", scratch.path("emptied")}).status, 1);
  EXPECT_EQ(cli::run_program({"audit", "verify", scratch.path("missing")}).status, 2);
}

}  // namespace
}  // namespace fathom::serve
