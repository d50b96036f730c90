#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "serve/http.h"

// Who may do what: pure functions of a request. Everything that they do not allow is refused.
namespace fathom::serve {

// Each may do what those before it may.
enum class Role { none, metrics, viewer, admin };

std::string_view name_of(Role role);  // "none", "metrics", …
std::optional<Role> role_named(std::string_view name);

// The names that this server goes by: "127.0.0.1:6970", lower case. A name of the user's without a
// port is allowed with and without the server's own.
std::vector<std::string> allowed_hosts(const std::string& address, unsigned port,
                                       const std::vector<std::string>& named);

// Whether a request is meant for this server. One that a browser sends because a name that somebody
// else owns was pointed at this machine (DNS rebinding) is not.
bool is_allowed_host(std::string_view host, const std::vector<std::string>& allowed);

// Whether a request that changes something comes from this server's own page, or from a program
// that is no browser. Browsers say where it comes from; one that shows a cookie and does not say is
// refused.
bool is_from_here(const Request& request, bool has_cookie, const std::vector<std::string>& allowed);

// How often each address may ask. Tokens come back steadily; a request takes one or more.
class RateLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;
  RateLimit(double per_second, double burst) : per_second_(per_second), burst_(burst) {}

  // False where the address has too few left; they are not taken then.
  bool take(const std::string& address, double tokens, Time now);
  bool has(const std::string& address, double tokens, Time now);

 private:
  struct Bucket {
    double tokens = 0;
    Time filled_at = {};
  };
  Bucket& bucket_of(const std::string& address, Time now);
  void forget_full(Time now);

  double per_second_;
  double burst_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace fathom::serve
