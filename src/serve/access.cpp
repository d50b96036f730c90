#include "serve/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace fathom::serve {
namespace {

constexpr std::array<std::string_view, 4> kRoleNames = {"none", "metrics", "viewer", "admin"};
constexpr std::size_t kMostAddresses = 4096;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool has_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  return colon != std::string_view::npos && (bracket == std::string_view::npos || bracket < colon);
}

std::string as_host(const std::string& address) {
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

// A network of IPv6 is handed out as a whole: one of its members is as good as another.
std::string network_of(const std::string& address) {
  if (address.find(':') == std::string::npos) return address;
  std::size_t end = 0;
  for (int part = 0; part < 4 && end < address.size(); ++part) {
    end = address.find(':', end);
    if (end == std::string::npos) return address;
    ++end;
  }
  return address.substr(0, end);
}

}  // namespace

std::string_view name_of(Role role) {
  return kRoleNames[static_cast<std::size_t>(role)];
}

std::optional<Role> role_named(std::string_view name) {
  const auto* const at = std::ranges::find(kRoleNames, name);
  if (at == kRoleNames.end() || at == kRoleNames.begin()) return {};
  return static_cast<Role>(at - kRoleNames.begin());
}

std::vector<std::string> allowed_hosts(const std::string& address, unsigned port,
                                       const std::vector<std::string>& named) {
  std::vector<std::string> hosts;
  const bool is_any = address == "0.0.0.0" || address == "::";  // which is nobody's name
  if (!is_any) hosts.push_back(fmt::format("{}:{}", as_host(address), port));
  for (const char* name : {"127.0.0.1", "localhost", "[::1]"})
    hosts.push_back(fmt::format("{}:{}", name, port));
  for (const std::string& name : named) {
    hosts.push_back(lower_case(name));
    if (!has_port(name)) hosts.push_back(fmt::format("{}:{}", hosts.back(), port));
  }
  return hosts;
}

bool is_allowed_host(std::string_view host, const std::vector<std::string>& allowed) {
  if (host.empty()) return false;
  return std::ranges::any_of(allowed, [&](const std::string& name) {
    return name.size() == host.size() &&
           std::equal(host.begin(), host.end(), name.begin(), [](char sent, char right) {
             return std::tolower(static_cast<unsigned char>(sent)) == right;
           });
  });
}

bool is_from_here(const Request& request, bool has_cookie,
                  const std::vector<std::string>& allowed) {
  if (!request.fetch_site.empty() && request.fetch_site != "same-origin" &&
      request.fetch_site != "none")
    return false;
  if (request.origin.empty()) return !has_cookie || !request.fetch_site.empty();
  // http or https, whichever: who ends TLS before this server knows best.
  std::string_view origin = request.origin;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return is_allowed_host(origin.substr(scheme.size()), allowed);
  }
  return false;
}

bool RateLimit::take(const std::string& address, double tokens, Time now) {
  Bucket& bucket = bucket_of(address, now);
  if (bucket.tokens < tokens) return false;
  bucket.tokens -= tokens;
  return true;
}

bool RateLimit::has(const std::string& address, double tokens, Time now) {
  return bucket_of(address, now).tokens >= tokens;
}

RateLimit::Bucket& RateLimit::bucket_of(const std::string& address, Time now) {
  if (buckets_.size() >= kMostAddresses) forget_full(now);
  const auto [at, is_new] = buckets_.try_emplace(network_of(address));
  Bucket& bucket = at->second;
  const std::chrono::duration<double> passed = now - bucket.filled_at;
  bucket.tokens = is_new ? burst_ : std::min(burst_, bucket.tokens + passed.count() * per_second_);
  bucket.filled_at = now;
  return bucket;
}

// Those who have not asked for a while; all, where nobody has paused: memory has an end.
void RateLimit::forget_full(Time now) {
  std::erase_if(buckets_, [&](const auto& each) {
    const std::chrono::duration<double> passed = now - each.second.filled_at;
    return each.second.tokens + passed.count() * per_second_ >= burst_;
  });
  if (buckets_.size() >= kMostAddresses) buckets_.clear();
}

}  // namespace fathom::serve
