// The server with NVIDIA's library of our own (tests/devices/fake_nvml.cpp): what the demo has not.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "serve/client.h"
#include "serve/served.h"

namespace fathom::serve {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// The scenario of the library, for as long as this lives.
class FakeGpus {
 public:
  explicit FakeGpus(const std::string& scenario) {
    set(scenario);
    ::setenv("FATHOM_FAKE_NVML", scratch_.path("scenario").c_str(), 1);
    ::setenv("FATHOM_NVML", FATHOM_BINARY_DIR "/lib/libfake_nvml.so", 1);
  }
  ~FakeGpus() {
    ::unsetenv("FATHOM_NVML");
    ::unsetenv("FATHOM_FAKE_NVML");
  }
  FakeGpus(const FakeGpus&) = delete;
  FakeGpus& operator=(const FakeGpus&) = delete;

  void set(const std::string& scenario) const {
    scratch_.write("next", scenario);
    std::filesystem::rename(scratch_.path("next"), scratch_.path("scenario"));
  }

 private:
  cli::Scratch scratch_;
};

void watch_them(MonitorConfig& config) {
  config.demo = false;
  config.enable_opencl_profiling = false;
  config.monitoring_interval_seconds = 0.02;
  config.metrics_update_interval_seconds = 0.02;
  config.device_discovery_interval_seconds = 0.1;
}

// A program that does nothing, with words on its command line, until this goes.
class IdleProgram {
 public:
  IdleProgram() {
    int ends[2];
    if (pipe(ends) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[0], 0);
      close(ends[0]);
      close(ends[1]);
      execlp("sh", "sh", "-c", "read x", "--api-key", "hunter2", "/home/alice/model", nullptr);
      _exit(127);
    }
    close(ends[0]);
    input_ = ends[1];
  }
  ~IdleProgram() {
    close(input_);
    waitpid(pid_, nullptr, 0);
  }
  IdleProgram(const IdleProgram&) = delete;
  IdleProgram& operator=(const IdleProgram&) = delete;

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int input_ = -1;
};

TEST(Gpus, CommandLinesAreForAdminsAloneAndSecretsForNobody) {
  const IdleProgram program;
  const FakeGpus gpus(fmt::format("process {} 1024", program.pid()));
  const Served served({}, watch_them);
  std::string status;
  while (status.find("--api-key") == std::string::npos)
    status = served.get("/api/gpu/status", served.admin).body;
  EXPECT_THAT(status, HasSubstr("--api-key *** /home/***/model"));

  Client client(served.port());
  client.send(as_sent(served.port(), {.target = "/api/events", .token = served.admin}));
  client.answer();
  std::string event;
  while (event.find("--api-key") == std::string::npos) event = client.line();
  for (const std::string& shown : {status, event, served.get("/api/gpu/status", served.viewer).body,
                                   served.get("/metrics", served.admin).body, served.audit()}) {
    EXPECT_THAT(shown, Not(HasSubstr("hunter2")));
    EXPECT_THAT(shown, Not(HasSubstr("alice")));
  }
  EXPECT_THAT(served.get("/api/gpu/status", served.viewer).body, Not(HasSubstr("command")));
}

// The data of the next event of one of these names, and the name.
std::pair<std::string, json> next_of(Client& client, const std::vector<std::string>& names) {
  while (true) {
    const std::string line = client.line();
    for (const std::string& name : names) {
      if (line == "event: " + name)
        return {name, json::parse(client.line().substr(std::string_view("data: ").size()))};
    }
  }
}

json next_of(Client& client, const std::string& name) {
  return next_of(client, std::vector{name}).second;
}

TEST(Gpus, AStreamTellsOfDevicesAndAlertsAsTheyComeAndGo) {
  const FakeGpus gpus("devices 2");
  const Served served({}, watch_them);
  Client client(served.port());
  client.send(as_sent(served.port(), {.target = "/api/events", .token = served.viewer}));
  ASSERT_EQ(client.answer().status, 200);
  next_of(client, "snapshot");
  while (served.server->figures().streams < 1) {
  }
  gpus.set("devices 2\nlost 1");
  const json lost = next_of(client, "device");
  EXPECT_EQ(lost["event"], "lost");
  EXPECT_EQ(lost["uuid"], "GPU-fake-1");
  json alert = next_of(client, "alert");
  EXPECT_EQ(alert["kind"], "device_lost");
  EXPECT_EQ(alert["uuid"], "GPU-fake-1");
  EXPECT_FALSE(alert.contains("cleared_ns"));

  gpus.set("devices 2");
  EXPECT_EQ(next_of(client, "device")["event"], "found");
  alert = next_of(client, "alert");
  EXPECT_EQ(alert["kind"], "device_lost");
  EXPECT_TRUE(alert.contains("cleared_ns"));

  gpus.set("devices 2\nxid 79 0");
  do {
    alert = next_of(client, "alert");
  } while (alert["kind"] != "xid");
  EXPECT_EQ(alert["uuid"], "GPU-fake-0");
  EXPECT_EQ(alert["value"], 79);
  const json status = json::parse(served.get("/api/gpu/status", served.viewer).body);
  EXPECT_EQ(status["devices"][0]["last_error"]["xid"], 79);
}

}  // namespace
}  // namespace fathom::serve
