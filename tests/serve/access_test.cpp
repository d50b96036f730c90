#include "serve/access.h"

#include <gtest/gtest.h>

namespace fathom::serve {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const std::vector<std::string> kHosts = allowed_hosts("127.0.0.1", 6970, {"GPU1.example"});

TEST(Access, HostsAreThoseOfLoopbackWithThePortAndThoseThatWereNamed) {
  for (const char* host : {"127.0.0.1:6970", "localhost:6970", "LOCALHOST:6970", "[::1]:6970",
                           "gpu1.example", "gpu1.example:6970"}) {
    EXPECT_TRUE(is_allowed_host(host, kHosts)) << host;
  }
  for (const char* host : {"", "127.0.0.1", "localhost", "127.0.0.1:80", "evil.example",
                           "evil.example:6970", "127.0.0.1:6970.evil.example", "gpu1.example:1",
                           "localhost:6970 ", "127.0.0.1:6970@evil.example"}) {
    EXPECT_FALSE(is_allowed_host(host, kHosts)) << host;
  }
}

TEST(Access, TheAddressThatStandsForAllIsNoName) {
  EXPECT_FALSE(is_allowed_host("0.0.0.0:7000", allowed_hosts("0.0.0.0", 7000, {})));
}

TEST(Access, AnAddressOfIPv6IsAHostInBrackets) {
  EXPECT_TRUE(is_allowed_host("[fd00::1]:7000", allowed_hosts("fd00::1", 7000, {})));
}

bool from(const std::string& origin, const std::string& fetch_site, bool has_cookie) {
  Request request;
  request.origin = origin;
  request.fetch_site = fetch_site;
  return is_from_here(request, has_cookie, kHosts);
}

TEST(Access, WhatChangesStateComesFromThePageOrFromAProgram) {
  EXPECT_TRUE(from("", "", false));
  EXPECT_TRUE(from("http://127.0.0.1:6970", "same-origin", true));
  EXPECT_TRUE(from("http://127.0.0.1:6970", "", true));
  EXPECT_TRUE(from("https://gpu1.example", "same-origin", true));
  EXPECT_TRUE(from("", "same-origin", true));
}

TEST(Access, AnotherSiteIsRefusedWhateverItSaysOfItself) {
  EXPECT_FALSE(from("http://evil.example", "", false));
  EXPECT_FALSE(from("http://evil.example", "cross-site", true));
  EXPECT_FALSE(from("http://127.0.0.1:6970", "cross-site", true));
  EXPECT_FALSE(from("http://127.0.0.1:6970", "same-site", true));
  EXPECT_FALSE(from("null", "", false));
  EXPECT_FALSE(from("http://127.0.0.1:8888", "", true)) << "another server of this machine";
  EXPECT_FALSE(from("file://127.0.0.1:6970", "", true));
}

TEST(Access, ACookieWithoutAWordOfWhereItComesFromIsRefused) {
  EXPECT_FALSE(from("", "", true));
}

TEST(RateLimit, LetsABurstThroughAndThenSoManyPerSecond) {
  RateLimit limit(10, 20);
  const RateLimit::Time start{};
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(limit.take("a", 1, start)) << i;
  EXPECT_FALSE(limit.take("a", 1, start));
  EXPECT_FALSE(limit.take("a", 1, start + milliseconds(99)));
  EXPECT_TRUE(limit.take("a", 1, start + milliseconds(200)));
  EXPECT_TRUE(limit.take("b", 20, start)) << "others have their own";
  EXPECT_TRUE(limit.take("a", 20, start + seconds(60))) << "no more than a burst comes back";
  EXPECT_FALSE(limit.take("a", 1, start + seconds(60)));
}

TEST(RateLimit, ANetworkOfIPv6IsOneAddress) {
  RateLimit limit(1, 2);
  const RateLimit::Time now{};
  EXPECT_TRUE(limit.take("2001:db8:0:1:aaaa::1", 1, now));
  EXPECT_TRUE(limit.take("2001:db8:0:1:bbbb::2", 1, now));
  EXPECT_FALSE(limit.take("2001:db8:0:1:cccc::3", 1, now));
  EXPECT_TRUE(limit.take("2001:db8:0:2:aaaa::1", 1, now));
}

TEST(RateLimit, HoldsUpWithMoreAddressesThanItRemembers) {
  RateLimit limit(1, 1);
  const RateLimit::Time now{};
  for (int i = 0; i < 10'000; ++i) limit.take(std::to_string(i), 1, now);
  EXPECT_FALSE(limit.take("9999", 1, now));
}

}  // namespace
}  // namespace fathom::serve
