// What docs/server.md promises, each through a socket.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "serve/client.h"
#include "serve/served.h"

namespace fathom::serve {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

TEST(Security, AHostThatIsNotOursIsRefusedOnEveryRoute) {
  const Served served;
  for (const Endpoint& route : routes()) {
    for (const char* host : {"Host: evil.example", "Host: evil.example:6970", "Host:"}) {
      const Answer answer = served.ask({.method = std::string(route.method),
                                        .target = std::string(route.path),
                                        .token = served.admin,
                                        .headers = {host}});
      EXPECT_EQ(answer.status, 403) << route.method << " " << route.path << " " << host;
    }
  }
}

TEST(Security, TwoHostsAreRefused) {
  const Served served;
  const std::string right = fmt::format("Host: 127.0.0.1:{}", served.port());
  EXPECT_EQ(served.ask({.target = "/api/me", .headers = {right, "Host: evil.example"}}).status,
            403);
}

TEST(Security, AHostThatWasNamedIsAllowed) {
  const Served served([](ServerOptions& options) { options.hosts = {"gpu1.example"}; });
  EXPECT_EQ(served.ask({.target = "/api/me", .headers = {"Host: gpu1.example"}}).status, 200);
}

// What another site can make a browser send: its cookie is not (SameSite), but were it.
TEST(Security, AnotherSiteChangesNothingByAnyMethod) {
  const Served served;
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH"}) {
    for (const std::vector<std::string>& from :
         {std::vector<std::string>{"Origin: http://evil.example", "Sec-Fetch-Site: cross-site"},
          {"Origin: http://evil.example"},
          {"Origin: null"},
          {"Sec-Fetch-Site: cross-site"},
          {"Sec-Fetch-Site: same-site"}}) {
      Question question = served.as_page({.method = method,
                                          .target = "/api/sessions",
                                          .headers = {kJsonType},
                                          .body = R"({"name":"x"})"},
                                         served.admin);
      std::erase_if(question.headers, [](const std::string& header) {
        return header.starts_with("Origin:") || header.starts_with("Sec-Fetch");
      });
      question.headers.insert(question.headers.end(), from.begin(), from.end());
      const Answer answer = served.ask(question);
      EXPECT_TRUE(answer.status == 403 || answer.status == 405) << method << " " << answer.status;
      question.token = served.admin;  // nor with a token in place of the cookie
      EXPECT_TRUE(served.ask(question).status >= 403) << method;
    }
  }
  EXPECT_TRUE(served.monitor->sessions().empty());
}

TEST(Security, EveryRouteThatChangesSomethingLooksWhereItComesFrom) {
  const Served served;
  for (const Endpoint& route : routes()) {
    if (!route.changes_state) continue;
    const Answer answer = served.ask({.method = std::string(route.method),
                                      .target = std::string(route.path),
                                      .token = served.admin,
                                      .headers = {"Origin: http://evil.example"}});
    EXPECT_EQ(answer.status, 403) << route.path;
  }
}

TEST(Security, WhatIsNotAGetChangesStateAndNothingElseDoes) {
  for (const Endpoint& route : routes()) EXPECT_EQ(route.changes_state, route.method != "GET");
}

TEST(Security, ThePageItselfMay) {
  const Served served;
  const Question question = served.as_page({.method = "POST",
                                            .target = "/api/sessions",
                                            .headers = {kJsonType},
                                            .body = R"({"name":"x"})"},
                                           served.admin);
  EXPECT_EQ(served.ask(question).status, 201);
}

TEST(Security, AFormCannotPassForThePage) {
  const Served served;
  Question question = served.as_page({.method = "POST",
                                      .target = "/api/sessions",
                                      .headers = {"Content-Type: text/plain"},
                                      .body = R"({"name":"x"})"},
                                     served.admin);
  EXPECT_EQ(served.ask(question).status, 415);
}

TEST(Security, WithoutATokenOrWithAWrongOneNothingIsShown) {
  const Served served;
  for (const Endpoint& route : routes()) {
    if (route.role == Role::none) continue;
    for (const char* token : {"", "fathom_0000"}) {
      const Answer answer = served.ask(
          {.method = std::string(route.method), .target = std::string(route.path), .token = token});
      EXPECT_EQ(answer.status, 401) << route.path;
      EXPECT_EQ(answer.header("WWW-Authenticate"), "Bearer");
    }
  }
}

TEST(Security, EveryRouteRefusesARoleThatIsTooLow) {
  const Served served;
  for (const Endpoint& route : routes()) {
    for (const auto& [role, token] :
         {std::pair(Role::metrics, served.metrics), std::pair(Role::viewer, served.viewer)}) {
      if (role >= route.role) continue;
      const Answer answer = served.ask(
          {.method = std::string(route.method), .target = std::string(route.path), .token = token});
      EXPECT_EQ(answer.status, 403) << route.path;
    }
  }
}

TEST(Security, WhatIsNotInTheTableIsNotThere) {
  const Served served;
  for (const char* target : {"/api", "/api/", "/debug/pprof", "/api/gpu", "/..", "/%2e%2e",
                             "/trace/", "/metrics/", "/index.html"}) {
    EXPECT_EQ(served.get(target, served.admin).status, 404) << target;
  }
  for (const char* method : {"PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT"}) {
    const int status =
        served.ask({.method = method, .target = "/api/sessions", .token = served.admin}).status;
    EXPECT_TRUE(status == 405 || status == 400) << method << " " << status;
  }
  EXPECT_EQ(served.get("http://127.0.0.1/api/me", served.admin).status, 400);
}

TEST(Security, NothingOutsideOfTheFolderIsShown) {
  const Served served;
  served.scratch.write("secret.json", R"({"traceEvents":[]})");
  fs::create_symlink(served.scratch.path("secret.json"), served.folder + "/link.json");
  fs::create_directory_symlink(served.scratch.path(""), served.folder + "/up");
  for (const char* name :
       {"../secret.json", "..%2Fsecret.json", "%2e%2e%2fsecret.json", "link.json",
        "up%2Fsecret.json", "%2Fetc%2Fpasswd", ".", "..", "run.json%2F..%2F..%2Fsecret.json"}) {
    EXPECT_EQ(served.get(fmt::format("/trace/{}", name), served.admin).status, 404) << name;
    for (const char* which : {"flame", "kernels", "hta", "memory", "timeline"}) {
      EXPECT_EQ(
          served.get(fmt::format("/api/profiler/{}?file={}", which, name), served.admin).status,
          404)
          << name;
    }
  }
  EXPECT_EQ(served.get("/trace/a%00b", served.admin).status, 400);
}

TEST(Security, AnUploadStaysInTheFolder) {
  const Served served;
  for (const char* name :
       {"", "..%2Fx.json", "%2Ftmp%2Fx.json", ".x", "a%2Fb", "..", "a%5C..%5C%1b"}) {
    const Answer answer = served.ask({.method = "POST",
                                      .target = fmt::format("/api/files?name={}", name),
                                      .token = served.admin,
                                      .headers = {kBytesType},
                                      .body = "x"});
    EXPECT_EQ(answer.status, 400) << name;
  }
}

TEST(Security, ABodyOfAGigabyteIsRefusedOnEveryRoute) {
  const Served served([](ServerOptions& options) { options.upload_limit = 1 << 20; });
  for (const Endpoint& route : routes()) {
    Client client(served.port());
    client.send(fmt::format(
        "{} {}?name=x HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n"
        "Content-Type: {}\r\nContent-Length: 1073741824\r\n\r\n",
        route.method, route.path, served.port(), served.admin,
        route.body == BodyKind::file ? "application/octet-stream" : "application/json"));
    EXPECT_EQ(client.answer().status, 413) << route.path;
  }
  EXPECT_THAT(served.audit(), HasSubstr(R"("path":"/api/files","status":413,"reason":"body")"));
}

TEST(Security, AStreamedUploadOverTheLimitIsRefusedAndLeavesNothing) {
  const Served served([](ServerOptions& options) { options.upload_limit = 1 << 20; });
  Client client(served.port());
  client.send(
      fmt::format("POST /api/files?name=x HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n"
                  "Authorization: Bearer {}\r\nContent-Type: application/octet-stream\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n",
                  served.port(), served.admin));
  const std::string chunk = "40000\r\n" + std::string(0x40000, 'x') + "\r\n";
  for (int i = 0; i < 5; ++i) client.send(chunk);
  EXPECT_EQ(client.answer().status, 413);
  EXPECT_TRUE(client.is_closed());
  const auto entries = fs::directory_iterator(served.folder);
  EXPECT_EQ(std::distance(fs::begin(entries), fs::end(entries)), 1) << "run.json alone";
}

TEST(Security, EveryAnswerCarriesItsHeaders) {
  const Served served;
  const std::string event_headers = [&] {
    Client client(served.port());
    client.send(as_sent(served.port(), {.target = "/api/events", .token = served.viewer}));
    return client.answer().headers;
  }();
  for (const Answer& answer :
       {served.get("/"), served.get("/api/me"), served.get("/nowhere"), served.get("/metrics"),
        served.get("/trace/run.json", served.viewer), served.get("/trace/run.json"),
        Answer{.status = 200, .headers = event_headers, .body = {}}}) {
    EXPECT_EQ(answer.header("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(answer.header("Referrer-Policy"), "no-referrer");
    EXPECT_EQ(answer.header("Cache-Control"), "no-store");
    EXPECT_EQ(answer.header("Cross-Origin-Resource-Policy"), "same-origin");
    EXPECT_THAT(answer.header("Content-Security-Policy"), HasSubstr("default-src 'none'"));
    EXPECT_THAT(answer.header("Content-Security-Policy"), HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(answer.headers, Not(HasSubstr("Access-Control")));
    EXPECT_THAT(answer.headers, Not(HasSubstr("Server:")));
  }
  EXPECT_THAT(served.get("/").header("Content-Security-Policy"), HasSubstr("script-src 'sha256-"));
}

TEST(Security, TheCookieIsOutOfReachOfScriptsAndOtherSites) {
  const Served served;
  const Answer login =
      served.post("/api/login", fmt::format(R"({{"token":"{}"}})", served.viewer), "");
  EXPECT_EQ(login.body, "{\"role\":\"viewer\"}\n");
  const std::string cookie = login.header("Set-Cookie");
  EXPECT_TRUE(cookie.starts_with(fmt::format("fathom_{}=", served.port())));
  EXPECT_THAT(cookie, HasSubstr("HttpOnly"));
  EXPECT_THAT(cookie, HasSubstr("SameSite=Strict"));
  EXPECT_THAT(cookie, Not(HasSubstr(served.viewer)));
}

TEST(Security, LoggingOutEndsTheLogin) {
  const Served served;
  const Question me = served.as_page({.target = "/api/me"}, served.viewer);
  EXPECT_EQ(served.ask(me).body, "{\"role\":\"viewer\"}\n");
  Question out = me;
  out.method = "POST";
  out.target = "/api/logout";
  EXPECT_EQ(served.ask(out).status, 200);
  EXPECT_EQ(served.ask(me).body, "{\"role\":null}\n");
}

TEST(Security, WrongTokensAreLimitedAndRightOnesOfProgramsAreNot) {
  const Served served;
  const auto login = [&](const std::string& token) {
    return served.post("/api/login", fmt::format(R"({{"token":"{}"}})", token), "").status;
  };
  EXPECT_EQ(login(served.viewer), 200);
  int wrong = 0;
  while (login("wrong") == 401) ++wrong;
  EXPECT_GE(wrong, 10);
  EXPECT_EQ(login(served.viewer), 429);
  EXPECT_EQ(served.get("/metrics", served.metrics).status, 200);
}

TEST(Security, StrangersAreSlowedDownAndThoseWithATokenAreNot) {
  const Served served;
  int refused = 0;
  for (int i = 0; i < 200; ++i) refused += served.get("/api/gpu/status").status == 429 ? 1 : 0;
  EXPECT_GT(refused, 0);
  EXPECT_EQ(served.get("/api/gpu/status", served.viewer).status, 200);
}

TEST(Security, ThoseWithATokenHaveALimitToo) {
  const Served served([](ServerOptions& options) { options.requests_per_second = 2; });
  int refused = 0;
  for (int i = 0; i < 40; ++i)
    refused += served.get("/metrics", served.metrics).status == 429 ? 1 : 0;
  EXPECT_GT(refused, 0);
}

TEST(Security, TheAuditLogHasWhatWasChangedAndWhatWasRefused) {
  {
    const Served served;
    served.post("/api/sessions", R"({"name":"x"})", served.admin);
    served.post("/api/sessions", R"({"name":"x"})", served.viewer);
    served.get("/api/gpu/status?token=in-the-query", "wrong");
    served.get("/api/gpu/status", served.viewer);
    served.ask({.target = "/", .headers = {"Host: evil.example"}});
    const std::string log = served.audit();
    EXPECT_THAT(
        log,
        HasSubstr(
            R"("who":"a","role":"admin","method":"POST","path":"/api/sessions","status":201)"));
    EXPECT_THAT(
        log,
        HasSubstr(
            R"("who":"v","role":"viewer","method":"POST","path":"/api/sessions","status":403)"));
    EXPECT_THAT(log, HasSubstr(R"("method":"GET","path":"/api/gpu/status","status":401)"));
    EXPECT_THAT(log, HasSubstr(R"("status":403,"reason":"host")"));
    EXPECT_THAT(log, Not(HasSubstr("in-the-query")));
    EXPECT_THAT(log, Not(HasSubstr(served.admin)));
    EXPECT_EQ(verify_audit(served.scratch.path("audit")).fault, "");
    EXPECT_EQ(verify_audit(served.scratch.path("audit")).lines, 5U) << "reading is not noted";
  }
}

std::size_t lines_with(const std::string& log, std::string_view what) {
  std::size_t lines = 0;
  for (std::size_t at = log.find(what); at != std::string::npos; at = log.find(what, at + 1))
    ++lines;
  return lines;
}

// Everybody may log in and out, and each time is a line.
TEST(Security, NobodyFillsTheAuditLogWithoutAToken) {
  const Served served;
  for (const char* target : {"/api/logout", "/api/login"}) {
    int refused = 0;
    for (int i = 0; i < 100; ++i) refused += served.post(target, "{}", "").status == 429 ? 1 : 0;
    EXPECT_GT(refused, 20) << target;
  }
  EXPECT_LT(lines_with(served.audit(), "\n"), 100U);
  EXPECT_EQ(served.get("/api/gpu/status", served.viewer).status, 200);
}

TEST(Security, WhatIsNoRequestIsNotedToo) {
  const Served served;
  for (int i = 0; i < 3; ++i) {
    Client client(served.port());
    client.send("nonsense\r\n\r\n");
    EXPECT_EQ(client.answer().status, 400);
  }
  Client client(served.port());
  client.send("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(client.answer().status, 431);
  EXPECT_EQ(lines_with(served.audit(), R"("status":400,"reason":"not HTTP")"), 3U);
  EXPECT_EQ(lines_with(served.audit(), R"("status":431,"reason":"not HTTP")"), 1U);
  for (int i = 0; i < 300; ++i) {
    Client another(served.port());
    another.send("nonsense\r\n\r\n");
    another.answer();
  }
  EXPECT_LT(lines_with(served.audit(), "not HTTP"), 150U) << "but not without end";
  EXPECT_EQ(verify_audit(served.scratch.path("audit")).fault, "");
}

TEST(Security, ConnectionsOverTheLimitAreNoted) {
  const Served served([](ServerOptions& options) { options.http.most_connections = 1; });
  Client first(served.port());
  first.send(as_sent(served.port(), {.target = "/api/me"}));
  EXPECT_EQ(first.answer().status, 200);
  EXPECT_TRUE(Client(served.port()).is_closed());
  EXPECT_THAT(served.audit(), HasSubstr(R"("event":"connection","address":"127.0.0.1")"));
  EXPECT_THAT(served.audit(), HasSubstr(R"("reason":"too many connections")"));
}

TEST(Security, WhatThereIsNoTimeForIsNoted) {
  const Served served([](ServerOptions& options) {
    options.http.most_streams = 0;
    options.http.most_waiting_work = 0;
  });
  EXPECT_EQ(served.get("/api/events", served.viewer).status, 503);
  EXPECT_EQ(served.get("/api/sessions", served.viewer).status, 503);
  EXPECT_EQ(lines_with(served.audit(), R"("status":503,"reason":"too busy")"), 2U);
}

TEST(Security, WhatCannotBeNotedIsNotDone) {
  const Served served;
  const auto log_out = [&] { return served.post("/api/logout", "", "").status; };
  EXPECT_EQ(log_out(), 200);
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit full = {.rlim_cur = served.audit().size() + 10, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  log_out();  // which is found out by its own line
  EXPECT_EQ(log_out(), 503);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(log_out(), 503) << "this one could be noted";
  EXPECT_EQ(log_out(), 200);
  EXPECT_EQ(verify_audit(served.scratch.path("audit")).fault, "") << "and no half line is left";
}

TEST(Security, ATokenThatIsRevokedEndsItsStream) {
  const Served served;
  Client client(served.port());
  client.send(as_sent(served.port(), {.target = "/api/events", .token = served.viewer}));
  EXPECT_EQ(client.answer().status, 200);
  const std::string tokens = cli::content_of(served.scratch.path("tokens"));
  std::string without;
  std::size_t at = tokens.find("viewer ");
  without = tokens.substr(0, at) + tokens.substr(tokens.find('\n', at) + 1);
  served.scratch.write("tokens", without);
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(served.get("/api/gpu/status", served.viewer).status, 401);
}

}  // namespace
}  // namespace fathom::serve
