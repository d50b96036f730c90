#include "serve/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/error.h"
#include "report/page/page.h"
#include "serve/answers.h"

namespace fathom::serve {
namespace {

constexpr std::size_t kJsonBodyLimit = 64 * 1024;
// Per second, of those who show nothing; what anybody can have noted counts ten times.
constexpr double kStrangersPerSecond = 100;
constexpr double kStrangersBurst = 400;
constexpr double kCostOfNote = 10;
constexpr double kTurnedAwayPerSecond = 10;  // that are noted
constexpr double kFailedLoginsPerMinute = 10;
constexpr double kNoLimit = 1e12;

bool is_loopback(const std::string& address) {
  in_addr four{};
  in6_addr six{};
  if (inet_pton(AF_INET, address.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  if (inet_pton(AF_INET6, address.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
  throw base::Error(address, "not an IP address", "For example 127.0.0.1, ::1 or 0.0.0.0");
}

bool is_host_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-._:[]").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

void expect_safe(const ServerOptions& options) {
  const HttpOptions& http = options.http;
  for (const std::string& name : options.hosts) {
    if (!is_host_name(name))
      throw base::Error(name, "not a name for --host",
                        "Without https:// and path, for example gpu1.example");
  }
  if (http.tls_certificate.empty() != http.tls_key.empty())
    throw base::Error("TLS", "needs a certificate and its key", "Name both: --tls-cert, --tls-key");
  if (is_loopback(http.address) || !http.tls_certificate.empty() || options.may_send_unencrypted)
    return;
  throw base::Error(
      http.address, "other machines could read tokens and data on their way",
      "Name a certificate (--tls-cert, --tls-key), or stay on 127.0.0.1 and come through ssh -L");
}

Response too_often() {
  Response response = error_answer(429, "Too many requests; wait a moment");
  response.headers += "Retry-After: 1\r\n";
  response.closes = true;
  return response;
}

std::string_view path_of(const std::string& target) {
  return std::string_view(target).substr(0, target.find('?'));
}

}  // namespace

Server::Server(Monitor& monitor, const ServerOptions& options)
    : options_(options),
      known_(options.requests_per_second == 0 ? kNoLimit : options.requests_per_second,
             options.requests_per_second == 0 ? kNoLimit : 2 * options.requests_per_second),
      strangers_(kStrangersPerSecond, kStrangersBurst),
      failed_logins_(kFailedLoginsPerMinute / 60, kFailedLoginsPerMinute),
      turned_away_(kTurnedAwayPerSecond, 10 * kTurnedAwayPerSecond) {
  expect_safe(options);
  if (options.token_file.empty()) {
    token_ = tokens_.make_one(Role::admin, "this-run");
  } else {
    tokens_.use_file(options.token_file);
  }
  if (!options.folder.empty()) {
    folder_ = std::make_unique<Folder>(options.folder);
    analyses_ = std::make_unique<Analyses>(*folder_, options.trace_memory);
  }
  audit_ = std::make_unique<Audit>(options.audit_log);
  const auto publish = [this](Audience audience, Live::Bytes bytes) {
    if (HttpServer* const http = listening_)
      http->publish(static_cast<unsigned>(audience), std::move(bytes));
  };
  live_ = std::make_unique<Live>(
      monitor,
      [this](MetricsInput& figures) {
        if (const HttpServer* const http = listening_) figures.http = http->figures();
        figures.denied = denied_;
        figures.audit_lines = audit_->lines();
        figures.audit_is_failing = audit_->is_failing();
      },
      publish);
  services_ = std::make_unique<Services>(Services{
      .monitor = monitor,
      .live = *live_,
      .tokens = tokens_,
      .logins = logins_,
      .failed_logins = failed_logins_,
      .folder = folder_.get(),
      .analyses = analyses_.get(),
      .upload_limit = options.upload_limit,
      .cookie_name = {},
      .is_tls = !options.http.tls_certificate.empty(),
      .page = std::make_shared<std::string>(report::page_html({{"server", "{}"}})),
      .tell_session =
          [publish](std::string json) {
            const auto bytes = std::make_shared<std::string>(Live::event("session", json));
            publish(Audience::viewers, bytes);
            publish(Audience::admins, bytes);
          },
  });
  HttpOptions http = options.http;
  http.common_headers = common_headers;
  // The port is known once it listens; who asks before that is asked to come again.
  http_ = std::make_unique<HttpServer>(
      http,
      [this](const Request& request) {
        if (listening_ == nullptr) return Admission{.refusal = error_answer(503, "Not ready yet")};
        return admit(request);
      },
      [this](const TurnedAway& what) { note_turned_away(what); });
  services_->cookie_name = fmt::format("fathom_{}", http_->port());
  hosts_ = allowed_hosts(options.http.address, http_->port(), options.hosts);
  audit_->write({.event = "started"});
  listening_ = http_.get();
}

Server::~Server() {
  http_->stop();
  audit_->write({.event = "stopped"});
  live_.reset();
}

std::string Server::url() const {
  std::string host = hosts_.front();
  // On loopback, a name of the user's is that of a proxy.
  if (!is_loopback(options_.http.address) && !options_.hosts.empty())
    host = allowed_hosts(options_.http.address, port(), {options_.hosts.front()}).back();
  const bool is_tls = !options_.http.tls_certificate.empty();
  const std::string url = fmt::format("{}://{}/", is_tls ? "https" : "http", host);
  return token_.empty() ? url : fmt::format("{}#token={}", url, token_);
}

Admission Server::admit(const Request& request) {
  const auto now = std::chrono::steady_clock::now();
  tokens_.reread_if_changed(now);
  const auto target = parse_target(request.target);
  auto call = std::make_shared<Call>();
  call->address = request.address;
  call->cookie = cookie_value(request.cookie, services_->cookie_name);
  const std::string_view bearer = bearer_token(request.authorization);
  const bool has_cookie = !call->cookie.empty() && bearer.empty();
  const auto found =
      bearer.empty() ? logins_.find(call->cookie, tokens_, now) : tokens_.find(bearer);
  if (found) call->who = *found;
  if (!bearer.empty()) call->cookie.clear();

  if (auto refusal = refusal_by_rate(request, call->who, now)) return {.refusal = refusal};
  if (!is_allowed_host(request.host, hosts_)) {
    return deny(request, call->who,
                error_answer(403, "This server does not go by that name; see --host"), "host");
  }
  if (!target) return deny(request, call->who, error_answer(400, "No such address"), "target");
  Match matched = match(request.method, *target);
  if (matched.route == nullptr) {
    if (matched.allowed.empty())
      return deny(request, call->who, error_answer(404, "There is nothing here"), "route");
    Response response = error_answer(405, "This is not done with " + request.method);
    response.headers += fmt::format("Allow: {}\r\n", matched.allowed);
    return deny(request, call->who, std::move(response), "method");
  }
  const Endpoint& route = *matched.route;
  if (const auto why = why_not(request, route, call->who, has_cookie)) {
    const bool shows_login = why->status == 401 && route.path.starts_with("/trace/");
    Response response =
        shows_login ? page_answer(401, services_->page) : error_answer(why->status, why->sentence);
    if (why->status == 401) response.headers += "WWW-Authenticate: Bearer\r\n";
    return deny(request, call->who, std::move(response), why->sentence);
  }
  if (route.role == Role::none && route.noted == Noted::changes && !can_pay(request, call->who)) {
    ++denied_;
    return {.refusal = too_often()};
  }
  call->parameters = std::move(matched.parameters);
  call->target = *target;
  return route.body == BodyKind::file ? take_upload(request, std::move(call))
                                      : take_call(route, std::move(call));
}

std::optional<Response> Server::refusal_by_rate(const Request& request, const Identity& who,
                                                Time now) {
  RateLimit& limit = who.role == Role::none ? strangers_ : known_;
  if (limit.take(request.address, 1, now)) return {};
  ++denied_;
  return too_often();
}

std::optional<Server::Refusal> Server::why_not(const Request& request, const Endpoint& route,
                                               const Identity& who, bool has_cookie) const {
  if (who.role == Role::none && route.role > Role::none)
    return Refusal{
        401, request.authorization.empty() ? "This needs a token" : "This token is not known here"};
  if (who.role < route.role)
    return Refusal{403, fmt::format("This needs the role {}", name_of(route.role))};
  if (!route.changes_state) return {};
  if (!is_from_here(request, has_cookie, hosts_))
    return Refusal{403, "Another site asked for this"};
  const std::string_view type =
      std::string_view(request.content_type).substr(0, request.content_type.find(';'));
  if (route.body == BodyKind::json && type != "application/json")
    return Refusal{415, "The body is application/json"};
  if (route.body == BodyKind::file && type != "application/octet-stream")
    return Refusal{415, "The body is application/octet-stream"};
  if (audit_->is_failing())
    return Refusal{503, "The audit log cannot be written, so nothing is changed"};
  return {};
}

// What everybody can have noted, a refusal or a login, costs as much as many requests: else the log
// could be filled by anybody.
bool Server::can_pay(const Request& request, const Identity& who) {
  RateLimit& limit = who.role == Role::none ? strangers_ : known_;
  return limit.take(request.address, kCostOfNote - 1, std::chrono::steady_clock::now());
}

// Each refusal is a line in the log, so those who are refused too often are only told so.
Admission Server::deny(const Request& request, const Identity& who, Response response,
                       std::string_view reason) {
  ++denied_;
  if (!can_pay(request, who)) return {.refusal = too_often()};
  note(request, who, response.status, reason);
  return {.refusal = std::move(response)};
}

// Of one that was admitted, and refused all the same.
void Server::note_late_refusal(const Request& request, const Identity& who, int status) {
  ++denied_;
  if (can_pay(request, who)) note(request, who, status, status == 413 ? "body" : "too busy");
}

// The HTTP server itself counts these.
void Server::note_turned_away(const TurnedAway& what) {
  const bool is_connection = what.status == 0;
  const auto now = std::chrono::steady_clock::now();
  // From very many addresses, too, the log is not filled.
  if (!strangers_.take(what.address, kCostOfNote, now) || !turned_away_.take("", 1, now)) return;
  audit_->write({.event = is_connection ? "connection" : "request",
                 .address = what.address,
                 .role = name_of(Role::none),
                 .status = what.status,
                 .reason = is_connection ? "too many connections" : "not HTTP"});
}

Admission Server::take_call(const Endpoint& route, std::shared_ptr<Call> call) {
  return {
      .body_limit = route.body == BodyKind::json ? kJsonBodyLimit : 0,
      .answer = [this, &route, call](Request& request) -> Response {
        call->body = std::move(request.body);
        if (route.speed == Speed::fast) return run(request, route, *call);
        return {.work = [this, &route, call, request] { return run(request, route, *call); }};
      },
      .note_refusal = [this, call](const Request& request,
                                   int status) { note_late_refusal(request, call->who, status); }};
}

Response Server::run(const Request& request, const Endpoint& route, Call& call) {
  Response response;
  try {
    response = route.handle(*services_, call);
  } catch (const std::exception& error) {
    response = error_answer(500, fmt::format("This went wrong: {}", error.what()));
  }
  if (route.noted == Noted::changes) note(request, call.who, response.status, {});
  return response;
}

Admission Server::take_upload(const Request& request, std::shared_ptr<Call> call) {
  const auto name = call->target.value("name");
  if (!folder_)
    return deny(request, call->who,
                error_answer(409, "No folder was named when the server was started"), "no folder");
  if (!name || !is_plain_file_name(*name)) {
    return deny(request, call->who,
                error_answer(400, "name= is the name of a file, without folders, not hidden"),
                "name");
  }
  auto upload = std::make_shared<Upload>(*folder_, *name);
  return {
      .body_limit = options_.upload_limit,
      .take_body = [upload](std::string_view piece) { return upload->take(piece); },
      .answer = [this, call, upload](Request& whole) -> Response {
        return {.work = [this, call, upload, whole] {
          Response response = uploaded(*services_, *upload);
          note(whole, call->who, response.status, {});
          return response;
        }};
      },
      .note_refusal = [this, call](const Request& whole,
                                   int status) { note_late_refusal(whole, call->who, status); }};
}

void Server::note(const Request& request, const Identity& who, int status,
                  std::string_view reason) {
  audit_->write({.event = "request",
                 .address = request.address,
                 .who = who.name,
                 .role = name_of(who.role),
                 .method = request.method,
                 .path = path_of(request.target),
                 .status = status,
                 .reason = reason});
}

}  // namespace fathom::serve
