// docs/openapi.yaml and the server say the same.

#include "serve/openapi.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/schema.h"
#include "monitor/config_fields.h"
#include "serve/client.h"
#include "serve/served.h"

namespace fathom::serve {
namespace {

using nlohmann::json;
using testing::IsEmpty;

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(c));
  return text;
}

const json& followed(const json& part) {
  if (!part.contains("$ref")) return part;
  return openapi().at(json::json_pointer(part["$ref"].get<std::string>().substr(1)));
}

TEST(OpenApi, HasTheRoutesOfTheServerWithTheirRoles) {
  std::map<std::string, std::pair<std::string, bool>> documented, served;
  for (const auto& [path, methods] : openapi()["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      documented[upper(method) + " " + path] = {operation["x-role"],
                                                operation.value("x-changes-state", false)};
    }
  }
  for (const Endpoint& route : routes()) {
    served[fmt::format("{} {}", route.method, route.path)] = {std::string(name_of(route.role)),
                                                              route.changes_state};
  }
  EXPECT_EQ(documented, served);
}

// Each answer that the document lists, as it came from a server.
class Answers {
 public:
  void check(const std::string& method, const std::string& path, const Answer& answer) {
    const std::string status = std::to_string(answer.status);
    const std::string what = fmt::format("{} {} {}", method, path, status);
    std::string lower = method;
    for (char& c : lower) c = static_cast<char>(std::tolower(c));
    const json& responses = openapi()["paths"][path][lower]["responses"];
    ASSERT_TRUE(responses.contains(status)) << what << " is not documented: " << answer.body;
    seen_.insert(what);
    const json& content = followed(responses[status]).value("content", json::object());
    if (content.empty()) {
      EXPECT_EQ(answer.body, "") << what;
      return;
    }
    const std::string type = answer.header("Content-Type");
    const std::string plain_type = type.substr(0, type.find(';'));
    ASSERT_TRUE(content.contains(plain_type)) << what << " came as " << type;
    if (plain_type != "application/json") return;
    const json body = json::parse(answer.body, nullptr, false);
    ASSERT_FALSE(body.is_discarded()) << what;
    EXPECT_THAT(cli::faults_against(content[plain_type]["schema"], openapi(), body), IsEmpty())
        << what;
  }

  std::set<std::string> missing() const {
    std::set<std::string> missing;
    for (const auto& [path, methods] : openapi()["paths"].items()) {
      for (const auto& [method, operation] : methods.items()) {
        for (const auto& [status, response] : operation["responses"].items()) {
          const std::string what = fmt::format("{} {} {}", upper(method), path, status);
          if (!seen_.contains(what)) missing.insert(what);
        }
      }
    }
    return missing;
  }

 private:
  std::set<std::string> seen_;
};

Question upload(const Served& served, const std::string& name, const std::string& body) {
  return {.method = "POST",
          .target = "/api/files?name=" + name,
          .token = served.admin,
          .headers = {kBytesType},
          .body = body};
}

void check_sessions(const Served& served, Answers& answers) {
  const std::string sessions = "/api/sessions";
  answers.check("POST", sessions, served.post(sessions, "{}", served.admin));
  const Answer started = served.post(
      sessions, R"({"name":"run","description":"d","monitoring_interval_seconds":0.05})",
      served.admin);
  answers.check("POST", sessions, started);
  answers.check("POST", sessions, served.post(sessions, R"({"name":"more"})", served.admin));
  answers.check("GET", sessions, served.get(sessions, served.viewer));
  const std::string id = json::parse(started.body)["id"];
  const std::string one = sessions + "/{id}", at = sessions + "/" + id, none = sessions + "/none";
  answers.check("POST", one + "/inference",
                served.post(at + "/inference", R"({"ms":1})", served.admin));
  answers.check("POST", one + "/inference",
                served.post(at + "/inference", R"({"ms":-1})", served.admin));
  answers.check("POST", one + "/inference",
                served.post(none + "/inference", R"({"ms":1})", served.admin));
  answers.check("GET", one, served.get(at, served.viewer));
  answers.check("GET", one, served.get(none, served.viewer));
  answers.check("POST", one + "/stop", served.post(at + "/stop", "", served.admin));
  answers.check("POST", one + "/stop", served.post(at + "/stop", "", served.admin));
  answers.check("GET", one, served.get(at, served.viewer));
}

void check_files(const Served& served, const Served& without_folder, Answers& answers) {
  const std::string files = "/api/files";
  answers.check("POST", files, served.ask(upload(served, "notes.txt", "no trace")));
  answers.check("POST", files, served.ask(upload(served, ".x", "x")));
  answers.check("POST", files, served.ask(upload(served, "x", std::string(2 << 20, 'x'))));
  answers.check("POST", files, without_folder.ask(upload(without_folder, "x", "x")));
  answers.check("GET", files, served.get(files, served.viewer));
  answers.check("GET", files, without_folder.get(files, without_folder.viewer));
  for (const char* which : {"flame", "memory", "timeline", "kernels", "hta"}) {
    const std::string path = std::string("/api/profiler/") + which;
    for (const char* name : {"run.json", "none.json", "notes.txt"})
      answers.check("GET", path, served.get(path + "?file=" + name, served.viewer));
  }
  served.ask(upload(served, "compile.log",
                    "V0721 16:11:45.671000 1 torch/a.py:1] {\"compilation_metrics\": {\"co_name\": "
                    "\"f\"}, \"frame_id\": 0, \"frame_compile_id\": 0}\n"));
  for (const char* name : {"compile.log", "none.log", "run.json"}) {
    const std::string path = "/api/profiler/compile";
    answers.check("GET", path, served.get(path + "?file=" + name, served.viewer));
  }
  const Answer page = served.get("/trace/compile.log", served.viewer);
  answers.check("GET", "/trace/{name}", page);
  EXPECT_EQ(page.status, 200);
  for (const char* block : {"summary", "compile", "server"})
    EXPECT_THAT(page.body, testing::HasSubstr(fmt::format("data-name=\"{}\"", block)));
  EXPECT_THAT(served.get(files, served.viewer).body,
              testing::ContainsRegex("\"compile.log\",[^}]*\"is_openable\":true"));
  for (const char* name : {"run.json", "none.json", "notes.txt"})
    answers.check("GET", "/trace/{name}", served.get(std::string("/trace/") + name, served.viewer));
  answers.check("GET", "/trace/{name}", served.get("/trace/run.json"));
}

TEST(OpenApi, TheSettingsOfASessionAreThoseThatItMayHave) {
  json documented = openapi()["paths"]["/api/sessions"]["post"]["requestBody"]["content"]
                             ["application/json"]["schema"]["properties"];
  documented.erase("name");
  documented.erase("description");
  for (const monitor::ConfigField& field : monitor::config_fields()) {
    const std::string name(field.name);
    ASSERT_EQ(documented.contains(name), field.is_of_session) << name;
    if (field.is_of_session && field.most > 0) {
      EXPECT_EQ(documented[name]["minimum"], field.least) << name;
      EXPECT_EQ(documented[name]["maximum"], field.most) << name;
    }
    documented.erase(name);
  }
  EXPECT_TRUE(documented.empty()) << documented;
}

// The page is tested with a server of JavaScript, which must answer as the real one does.
TEST(OpenApi, TheServerThatThePageIsTestedWithAnswersLikeThisOne) {
  if (std::system("node --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "node is not installed";
  const cli::Scratch scratch;
  const std::string out = scratch.path("answers");
  const std::string command = fmt::format(
      "FATHOM_PAGE=/dev/null node {}/web/tests/fake_answers.mjs > {}", FATHOM_SOURCE_DIR, out);
  ASSERT_EQ(std::system(command.c_str()), 0);
  const json answers = json::parse(cli::content_of(out));
  EXPECT_GE(answers.size(), 8U);
  for (const json& answer : answers) {
    const std::string what = fmt::format("{} {}", answer["method"].get<std::string>(),
                                         answer["path"].get<std::string>());
    std::string method = answer["method"];
    std::ranges::transform(method, method.begin(), [](unsigned char c) { return std::tolower(c); });
    const json operation = openapi()["paths"][answer["path"].get<std::string>()][method];
    const std::string status = std::to_string(answer["status"].get<int>());
    ASSERT_TRUE(operation["responses"].contains(status)) << what << " " << status;
    const json& response = followed(operation["responses"][status]);
    EXPECT_THAT(cli::faults_against(response["content"]["application/json"]["schema"], openapi(),
                                    answer["body"]),
                IsEmpty())
        << what;
  }
}

TEST(OpenApi, EveryAnswerIsAsItIsDocumented) {
  const Served served([](ServerOptions& options) { options.upload_limit = 1 << 20; },
                      [](MonitorConfig& config) { config.max_profiling_sessions = 1; });
  const Served without_folder([](ServerOptions& options) { options.folder.clear(); });
  Answers answers;
  answers.check("GET", "/", served.get("/"));
  answers.check("GET", "/api/health", served.get("/api/health"));
  answers.check("GET", "/metrics", served.get("/metrics", served.metrics));
  answers.check("GET", "/metrics", served.get("/metrics?names=some", served.metrics));
  for (const std::string& token : {std::string(), served.metrics, served.viewer, served.admin})
    answers.check("GET", "/api/me", served.get("/api/me", token));
  for (const std::string& token : {served.viewer, served.admin})
    answers.check("GET", "/api/gpu/status", served.get("/api/gpu/status", token));
  answers.check("GET", "/api/gpu/history", served.get("/api/gpu/history", served.viewer));
  answers.check("GET", "/api/gpu/history", served.get("/api/gpu/history?seconds=x", served.viewer));
  {
    Client client(served.port());
    client.send(as_sent(served.port(), {.target = "/api/events", .token = served.viewer}));
    answers.check("GET", "/api/events", client.answer());
  }
  check_sessions(served, answers);
  check_files(served, without_folder, answers);
  const std::string right = fmt::format(R"({{"token":"{}"}})", served.viewer);
  answers.check("POST", "/api/login", served.post("/api/login", right, ""));
  answers.check("POST", "/api/login", served.post("/api/login", "[]", ""));
  Answer wrong;
  do {
    wrong = served.post("/api/login", R"({"token":"wrong"})", "");
    answers.check("POST", "/api/login", wrong);
  } while (wrong.status == 401);
  answers.check("POST", "/api/logout", served.post("/api/logout", "", ""));

  MonitorConfig idle;
  idle.demo = true;
  Monitor not_started(idle);
  ServerOptions options;
  options.http.port = 0;
  options.audit_log = served.scratch.path("other-audit");
  const Server degraded(not_started, options);
  answers.check("GET", "/api/health", ask(degraded.port(), {.target = "/api/health"}));

  // A full disk is not made for a test.
  EXPECT_THAT(answers.missing(), testing::UnorderedElementsAre("POST /api/files 507"));
}

}  // namespace
}  // namespace fathom::serve
