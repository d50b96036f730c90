// Tokens for cookies: /api/login, /api/logout, /api/me.

#include <fmt/format.h>

#include "serve/answers.h"
#include "serve/routes.h"

namespace fathom::serve {
namespace {

std::string me_json(Role role) {
  return role == Role::none ? R"({"role":null})" : fmt::format(R"({{"role":"{}"}})", name_of(role));
}

std::string cookie_line(const Services& services, std::string_view value, int seconds) {
  return fmt::format("Set-Cookie: {}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}\r\n",
                     services.cookie_name, value, seconds, services.is_tls ? "; Secure" : "");
}

}  // namespace

Response post_login(Services& services, Call& call) {
  const auto now = std::chrono::steady_clock::now();
  const auto fields = Fields::of(call.body);
  const auto token = fields ? fields->text("token") : std::nullopt;
  if (!token) return error_answer(400, "The body is not {\"token\": \"…\"}");
  if (!services.failed_logins.has(call.address, 1, now)) {
    Response response = error_answer(429, "Too many wrong tokens; wait a minute");
    response.headers += "Retry-After: 60\r\n";
    return response;
  }
  const auto who = services.tokens.find(*token);
  if (!who) {
    services.failed_logins.take(call.address, 1, now);
    return error_answer(401, "This token is not known here");
  }
  call.who = *who;
  Response response = json_answer(200, me_json(who->role));
  response.headers += cookie_line(services, services.logins.start(*who, now), 24 * 3600);
  return response;
}

Response post_logout(Services& services, Call& call) {
  if (!call.cookie.empty()) services.logins.end(call.cookie);
  Response response = json_answer(200, me_json(Role::none));
  response.headers += cookie_line(services, "", 0);
  return response;
}

Response get_me(Services&, Call& call) {
  return json_answer(200, me_json(call.who.role));
}

}  // namespace fathom::serve
