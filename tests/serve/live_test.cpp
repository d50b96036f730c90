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
