#include "serve/served.h"

#include <fmt/format.h>

#include <filesystem>

namespace fathom::serve {

const char* const kJsonType = "Content-Type: application/json";
const char* const kBytesType = "Content-Type: application/octet-stream";

Served::Served(const Change& change, const std::function<void(MonitorConfig&)>& monitored)
    : folder(scratch.path("traces")) {
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(FATHOM_SOURCE_DIR "/tests/golden/training_step/trace.json",
                             folder + "/run.json");
  MonitorConfig config;
  config.demo = true;
  config.monitoring_interval_seconds = 0.05;
  config.output_dir = scratch.path("sessions");
  if (monitored) monitored(config);
  monitor = std::make_unique<Monitor>(config);
  monitor->start();
  ServerOptions options;
  options.http.port = 0;
  options.folder = folder;
  options.token_file = scratch.path("tokens");
  options.audit_log = scratch.path("audit");
  admin = add_token(options.token_file, Role::admin, "a");
  viewer = add_token(options.token_file, Role::viewer, "v");
  metrics = add_token(options.token_file, Role::metrics, "m");
  if (change) change(options);
  server = std::make_unique<Server>(*monitor, options);
}

Answer Served::get(const std::string& target, const std::string& token) const {
  return ask({.target = target, .token = token});
}

Answer Served::post(const std::string& target, const std::string& json,
                    const std::string& token) const {
  return ask(
      {.method = "POST", .target = target, .token = token, .headers = {kJsonType}, .body = json});
}

Question Served::as_page(Question question, const std::string& token) const {
  const Answer login = post("/api/login", fmt::format(R"({{"token":"{}"}})", token), "");
  const std::string cookie = login.header("Set-Cookie");
  question.headers.push_back("Cookie: " + cookie.substr(0, cookie.find(';')));
  question.headers.push_back(fmt::format("Origin: http://127.0.0.1:{}", port()));
  question.headers.push_back("Sec-Fetch-Site: same-origin");
  return question;
}

}  // namespace fathom::serve
