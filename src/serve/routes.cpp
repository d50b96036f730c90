#include "serve/routes.h"

#include <array>

namespace fathom::serve {
namespace {

using enum Role;
using enum Speed;
using Kind = BodyKind;

// docs/openapi.yaml says the same, and a test compares them.
constexpr std::array kRoutes = {
    // method, path, role, changes state, body, speed, noted, handler
    Endpoint{"GET", "/", none, false, Kind::none, fast, Noted::denials, get_page},
    Endpoint{"GET", "/trace/{name}", viewer, false, Kind::none, slow, Noted::denials,
             get_trace_page},
    Endpoint{"GET", "/api/health", none, false, Kind::none, fast, Noted::denials, get_health},
    Endpoint{"GET", "/metrics", metrics, false, Kind::none, fast, Noted::denials, get_metrics},
    Endpoint{"POST", "/api/login", none, true, Kind::json, fast, Noted::changes, post_login},
    Endpoint{"POST", "/api/logout", none, true, Kind::none, fast, Noted::changes, post_logout},
    Endpoint{"GET", "/api/me", none, false, Kind::none, fast, Noted::denials, get_me},
    Endpoint{"GET", "/api/gpu/status", viewer, false, Kind::none, fast, Noted::denials, get_status},
    Endpoint{"GET", "/api/gpu/history", viewer, false, Kind::none, slow, Noted::denials,
             get_history},
    Endpoint{"GET", "/api/events", viewer, false, Kind::none, fast, Noted::denials, get_events},
    Endpoint{"GET", "/api/sessions", viewer, false, Kind::none, slow, Noted::denials, get_sessions},
    Endpoint{"POST", "/api/sessions", admin, true, Kind::json, slow, Noted::changes, post_session},
    Endpoint{"GET", "/api/sessions/{id}", viewer, false, Kind::none, slow, Noted::denials,
             get_session},
    Endpoint{"POST", "/api/sessions/{id}/stop", admin, true, Kind::none, slow, Noted::changes,
             post_stop},
    // A program calls this for each request that it serves: a line each would drown all others.
    Endpoint{"POST", "/api/sessions/{id}/inference", admin, true, Kind::json, slow, Noted::denials,
             post_inference},
    Endpoint{"GET", "/api/files", viewer, false, Kind::none, slow, Noted::denials, get_files},
    Endpoint{"POST", "/api/files", admin, true, Kind::file, slow, Noted::changes, nullptr},
    Endpoint{"GET", "/api/profiler/flame", viewer, false, Kind::none, slow, Noted::denials,
             get_flame},
    Endpoint{"GET", "/api/profiler/memory", viewer, false, Kind::none, slow, Noted::denials,
             get_memory},
    Endpoint{"GET", "/api/profiler/timeline", viewer, false, Kind::none, slow, Noted::denials,
             get_timeline},
    Endpoint{"GET", "/api/profiler/kernels", viewer, false, Kind::none, slow, Noted::denials,
             get_kernels},
    Endpoint{"GET", "/api/profiler/hta", viewer, false, Kind::none, slow, Noted::denials, get_hta},
    Endpoint{"GET", "/api/profiler/compile", viewer, false, Kind::none, slow, Noted::denials,
             get_compile},
};

// Whether the path is that of the route; then with its parameters.
bool fits(std::string_view path, const Target& target, std::vector<std::string>& parameters) {
  parameters.clear();
  path.remove_prefix(1);
  for (const std::string& segment : target.segments) {
    const std::size_t end = path.find('/');
    const std::string_view part = path.substr(0, end);
    const bool is_last = &segment == &target.segments.back();
    if ((end == std::string_view::npos) != is_last) return false;
    if (part.starts_with('{')) {
      if (segment.empty()) return false;
      parameters.push_back(segment);
    } else if (part != segment) {
      return false;
    }
    if (!is_last) path.remove_prefix(end + 1);
  }
  return true;
}

}  // namespace

std::span<const Endpoint> routes() {
  return kRoutes;
}

Match match(std::string_view method, const Target& target) {
  Match found;
  for (const Endpoint& route : kRoutes) {
    if (!fits(route.path, target, found.parameters)) continue;
    if (route.method == method) {
      found.route = &route;
      return found;
    }
    if (!found.allowed.empty()) found.allowed += ", ";
    found.allowed += route.method;
  }
  return found;
}

}  // namespace fathom::serve
