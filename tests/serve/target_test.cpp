#include "serve/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/routes.h"

namespace fathom::serve {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Target, IsTakenApartAndDecoded) {
  const auto target = parse_target("/trace/ranks%2F0.json?a=1+2&b=%26&c&a=3");
  ASSERT_TRUE(target);
  EXPECT_THAT(target->segments, ElementsAre("trace", "ranks/0.json"));
  EXPECT_THAT(target->query,
              ElementsAre(Pair("a", "1 2"), Pair("b", "&"), Pair("c", ""), Pair("a", "3")));
  EXPECT_EQ(target->value("b"), "&");
  EXPECT_EQ(target->value("a"), std::nullopt) << "it stands there twice";
  EXPECT_EQ(target->value("d"), std::nullopt);
}

TEST(Target, WhatIsNoneGivesNothing) {
  for (const char* text : {"", "api", "*", "http://127.0.0.1/", "/%", "/%2", "/%zz", "/a%00b",
                           "/a\nb", "/a?b=%0d%0a", "/\x7f", "/%ff"}) {
    EXPECT_FALSE(parse_target(text)) << text;
  }
}

TEST(Target, ACookieIsFoundByItsWholeName) {
  EXPECT_EQ(cookie_value("a=1; fathom_1=x; b=2", "fathom_1"), "x");
  EXPECT_EQ(cookie_value("fathom_1=x=y", "fathom_1"), "x=y");
  EXPECT_EQ(cookie_value("xfathom_1=x", "fathom_1"), "");
  EXPECT_EQ(cookie_value("fathom_1=x; fathom_1=y", "fathom_1"), "") << "whose is it?";
  EXPECT_EQ(cookie_value("", "fathom_1"), "");
}

TEST(Target, ATokenIsOneOfABearer) {
  EXPECT_EQ(bearer_token("Bearer abc"), "abc");
  EXPECT_EQ(bearer_token("bearer  abc "), "abc");
  EXPECT_EQ(bearer_token("Basic abc"), "");
  EXPECT_EQ(bearer_token("Bearer"), "");
}

TEST(Routes, MatchByMethodAndPath) {
  const auto matched = [](std::string_view method, std::string_view path) {
    return match(method, *parse_target(path));
  };
  EXPECT_EQ(matched("GET", "/").route->path, "/");
  EXPECT_EQ(matched("GET", "/api/sessions/7").route->path, "/api/sessions/{id}");
  EXPECT_THAT(matched("POST", "/api/sessions/7/stop").parameters, ElementsAre("7"));
  EXPECT_EQ(matched("GET", "/api/sessions/").route, nullptr);
  EXPECT_EQ(matched("GET", "/api/sessions/7/8").route, nullptr);
  EXPECT_EQ(matched("GET", "//").route, nullptr);
  EXPECT_EQ(matched("GET", "/API/me").route, nullptr);
  EXPECT_EQ(matched("DELETE", "/api/sessions").allowed, "GET, POST");
  EXPECT_EQ(matched("get", "/api/me").route, nullptr);
}

}  // namespace
}  // namespace fathom::serve
