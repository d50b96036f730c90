#include "serve/live.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "serve/client.h"
#include "serve/served.h"

namespace fathom::serve {
namespace {

using nlohmann::json;

// The next event of that name.
json next_event(Client& client, const std::string& name) {
  while (true) {
    const std::string line = client.line();
    if (line.empty()) continue;
    if (line != "event: " + name) continue;
    return json::parse(client.line().substr(std::string_view("data: ").size()));
  }
}

TEST(Live, AStreamBeginsWithTheStateAndGoesOnWithEachSample) {
  const Served served;
  Client client(served.port());
  client.send(as_sent(served.port(), {.target = "/api/events", .token = served.viewer}));
  const Answer answer = client.answer();
  EXPECT_EQ(answer.header("Content-Type"), "text/event-stream");
  const json first = next_event(client, "snapshot");
  EXPECT_EQ(first["demo"], true);
  EXPECT_EQ(first["devices"].size(), 2U);
  EXPECT_GT(next_event(client, "snapshot")["time_ns"], first["time_ns"]);
}

TEST(Live, TellsOfSessionsThatAreStartedAndStopped) {
  const Served served;
  Client client(served.port());
  client.send(as_sent(served.port(), {.target = "/api/events", .token = served.viewer}));
  EXPECT_EQ(client.answer().status, 200);
  next_event(client, "snapshot");
  while (served.server->figures().streams < 1) {
  }
  const json started =
      json::parse(served.post("/api/sessions", R"({"name":"run"})", served.admin).body);
  EXPECT_EQ(next_event(client, "session")["id"], started["id"]);
  served.post("/api/sessions/" + started["id"].get<std::string>() + "/stop", "", served.admin);
  EXPECT_TRUE(next_event(client, "session").contains("stopped_ns"));
}

TEST(Live, ASessionCountsItsRequests) {
  const Served served;
  const json started =
      json::parse(served.post("/api/sessions", R"({"name":"run"})", served.admin).body);
  const std::string path = "/api/sessions/" + started["id"].get<std::string>();
  for (int i = 1; i <= 4; ++i)
    EXPECT_EQ(
        served.post(path + "/inference", fmt::format(R"({{"ms":{}}})", i), served.admin).status,
        204);
  const json report = json::parse(served.post(path + "/stop", "", served.admin).body);
  EXPECT_EQ(report["session"]["inference"]["count"], 4);
  EXPECT_EQ(report["session"]["inference"]["sum_ms"], 10);
}

// What it was started with, as its report has it.
json config_of_session(const Served& served, const std::string& body) {
  const Answer started = served.post("/api/sessions", body, served.admin);
  EXPECT_EQ(started.status, 201) << started.body;
  const std::string id = json::parse(started.body)["id"];
  return json::parse(served.get("/api/sessions/" + id, served.viewer).body)["config"];
}

TEST(Live, ASessionMayHaveSettingsOfItsOwn) {
  const Served served({}, [](MonitorConfig& config) { config.level = MonitorLevel::low; });
  const json config = config_of_session(
      served, R"({"name":"run","temperature_warning_celsius":60,"enable_power_monitoring":false,
                  "max_snapshots":10,"mode":"comprehensive"})");
  EXPECT_EQ(config["temperature_warning_celsius"], 60);
  EXPECT_EQ(config["enable_power_monitoring"], false);
  EXPECT_EQ(config["max_snapshots"], 10);
  EXPECT_EQ(config["mode"], "comprehensive");
  EXPECT_EQ(config["temperature_critical_celsius"], 90) << "as the server has it";
  EXPECT_EQ(config["level"], "low") << "the same";
}

TEST(Live, TheIntervalThatASessionNamesIsTheOneThatItGets) {
  const Served served({}, [](MonitorConfig& config) { config.level = MonitorLevel::low; });
  json config = config_of_session(served, R"({"name":"run","monitoring_interval_seconds":0.5})");
  EXPECT_EQ(config["monitoring_interval_seconds"], 0.5);
  EXPECT_EQ(config["level"], "medium");
  config = config_of_session(served,
                             R"({"name":"run","monitoring_interval_seconds":0.5,"level":"high"})");
  EXPECT_EQ(config["level"], "high");
  const json status = json::parse(served.get("/api/gpu/status", served.viewer).body);
  EXPECT_EQ(status["interval_seconds"], 0.1) << "0.05 s at level low";
}

TEST(Live, SettingsThatASessionCannotHaveAreRefusedByName) {
  const Served served;
  const auto said = [&](const std::string& setting) {
    const Answer answer =
        served.post("/api/sessions", R"({"name":"run",)" + setting + "}", served.admin);
    EXPECT_EQ(answer.status, 400) << setting;
    return json::parse(answer.body)["error"].get<std::string>();
  };
  EXPECT_EQ(said(R"("monitoring_interval_seconds":1e10)"),
            "monitoring_interval_seconds: must be a number from 0.01 to 3600, not '1e10'");
  for (const char* wrong : {"0", "-1", "1e999", "\"NaN\"", "true", "[1]", "null"})
    said(std::string(R"("monitoring_interval_seconds":)") + wrong);
  EXPECT_EQ(said(R"("temperature_warning_celsius":95)"),
            "session: temperature_warning_celsius (95) must not be above "
            "temperature_critical_celsius (90)");
  EXPECT_EQ(said(R"("output_dir":"/tmp")"),
            "output_dir: is a setting of the server, not of a session");
  EXPECT_EQ(said(R"("temperature":1)"), "temperature: unknown setting");
  EXPECT_TRUE(served.monitor->sessions().empty());
}

TEST(Live, TheHistoryHasAColumnPerMetricAndMayBeCut) {
  const Served served;
  while (served.monitor->snapshots().size() < 5) {
  }
  const json all = json::parse(served.get("/api/gpu/history", served.viewer).body);
  ASSERT_GE(all["times_ms"].size(), 5U);
  for (const auto& [uuid, columns] : all["devices"].items())
    EXPECT_EQ(columns["utilization_percent"].size(), all["times_ms"].size());
  const json newest = json::parse(served.get("/api/gpu/history?seconds=0", served.viewer).body);
  EXPECT_EQ(newest["times_ms"].size(), 1U);
  EXPECT_EQ(served.get("/api/gpu/history?seconds=soon", served.viewer).status, 400);
  EXPECT_EQ(served.get("/api/gpu/history?seconds=-1", served.viewer).status, 400);
}

TEST(Live, AMonitorThatHasNotStartedIsDegraded) {
  const cli::Scratch scratch;
  MonitorConfig config;
  config.demo = true;
  Monitor monitor(config);
  ServerOptions options;
  options.http.port = 0;
  options.audit_log = scratch.path("audit");
  const Server server(monitor, options);
  const Answer health = ask(server.port(), {.target = "/api/health"});
  EXPECT_EQ(health.status, 503);
  EXPECT_EQ(json::parse(health.body)["status"], "degraded");
  const Answer status = ask(server.port(), {.target = "/api/gpu/status", .token = server.token()});
  EXPECT_TRUE(json::parse(status.body)["time_ns"].is_null());
}

}  // namespace
}  // namespace fathom::serve
