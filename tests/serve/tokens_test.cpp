#include "serve/tokens.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/error.h"
#include "cli/run_program.h"

namespace fathom::serve {
namespace {

using Time = std::chrono::steady_clock::time_point;

class TokensTest : public testing::Test {
 protected:
  cli::Scratch scratch;
  std::string path = scratch.path("tokens");
};

TEST_F(TokensTest, TheFileIsPrivateAndHoldsHashesAlone) {
  const std::string token = add_token(path, Role::viewer, "laptop");
  struct stat file {};
  ASSERT_EQ(stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600U);
  const std::string content = cli::content_of(path);
  EXPECT_EQ(content.find(token), std::string::npos);
  EXPECT_NE(content.find("viewer " + to_hex(sha256(token)) + " laptop"), std::string::npos);
}

TEST_F(TokensTest, CommandsThatAreProposedMayBePastedWhateverTheFileIsCalled) {
  const std::string odd = scratch.path("my tokens");
  const auto said = [&] {
    try {
      Tokens().use_file(odd);
    } catch (const base::Error& error) {
      return error.hint();
    }
    return std::string();
  };
  EXPECT_EQ(said(), "Make a token first: fathom token admin --file '" + odd + "'");
  scratch.write("my tokens", "");
  chmod(odd.c_str(), 0644);
  EXPECT_EQ(said(), "chmod 600 '" + odd + "'");
  chmod(odd.c_str(), 0600);
  EXPECT_EQ(said(), "Make one: fathom token admin --file '" + odd + "'");
}

TEST_F(TokensTest, TokensAreLongAndDiffer) {
  const std::string one = add_token(path, Role::viewer, "one");
  const std::string two = add_token(path, Role::viewer, "two");
  EXPECT_NE(one, two);
  EXPECT_EQ(one.size(), std::string_view("fathom_").size() + 64) << "256 bits";
}

TEST_F(TokensTest, FindsWhoseATokenIs) {
  const std::string viewer = add_token(path, Role::viewer, "laptop");
  const std::string admin = add_token(path, Role::admin, "me");
  Tokens tokens;
  tokens.use_file(path);
  EXPECT_EQ(tokens.find(viewer)->role, Role::viewer);
  EXPECT_EQ(tokens.find(admin)->name, "me");
  EXPECT_FALSE(tokens.find(""));
  EXPECT_FALSE(tokens.find(viewer + "0"));
  EXPECT_FALSE(tokens.find(to_hex(sha256(viewer)))) << "the hash is no token";
}

TEST_F(TokensTest, AFileThatOthersMayReadIsRefused) {
  add_token(path, Role::viewer, "laptop");
  chmod(path.c_str(), 0640);
  Tokens tokens;
  EXPECT_THROW(tokens.use_file(path), base::Error);
  EXPECT_THROW(add_token(path, Role::viewer, "other"), base::Error);
}

TEST_F(TokensTest, WhatIsNoTokenIsNamedByItsLine) {
  add_token(path, Role::viewer, "laptop");
  const std::string right = cli::content_of(path);
  for (const char* wrong : {"root 00 x", "viewer 00 x", "viewer", "nonsense"}) {
    scratch.write("tokens", right + wrong + "\n");
    Tokens tokens;
    try {
      tokens.use_file(path);
      FAIL() << wrong;
    } catch (const base::Error& error) {
      EXPECT_NE(std::string(error.what()).find("line 3"), std::string::npos) << error.what();
    }
  }
}

TEST_F(TokensTest, AnEmptyFileLetsNobodyInAndIsRefused) {
  scratch.write("tokens", "# none\n");
  chmod(path.c_str(), 0600);
  Tokens tokens;
  EXPECT_THROW(tokens.use_file(path), base::Error);
  EXPECT_THROW(tokens.use_file(scratch.path("missing")), base::Error);
}

TEST_F(TokensTest, ALineTakenOutRevokesATokenAndItsLogins) {
  const std::string token = add_token(path, Role::viewer, "laptop");
  Tokens tokens;
  tokens.use_file(path);
  Logins logins;
  const Time now = Time() + std::chrono::hours(1);
  const std::string cookie = logins.start(*tokens.find(token), now);
  EXPECT_TRUE(logins.find(cookie, tokens, now));
  scratch.write("tokens", "# none any more\n");
  tokens.reread_if_changed(now);
  EXPECT_FALSE(tokens.find(token));
  EXPECT_FALSE(logins.find(cookie, tokens, now));
}

TEST_F(TokensTest, AFileThatBecomesWrongLetsNobodyIn) {
  const std::string token = add_token(path, Role::viewer, "laptop");
  Tokens tokens;
  tokens.use_file(path);
  scratch.write("tokens", "nonsense\n");
  tokens.reread_if_changed(Time() + std::chrono::hours(1));
  EXPECT_FALSE(tokens.find(token));
}

TEST_F(TokensTest, NobodyIsToldToChangeTheModeOfADirectory) {
  std::filesystem::create_directory(path);
  Tokens tokens;
  try {
    tokens.use_file(path);
    ADD_FAILURE();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.problem(), "is a directory");
  }
}

TEST_F(TokensTest, NamesAreUniqueAndPlain) {
  add_token(path, Role::viewer, "laptop");
  EXPECT_THROW(add_token(path, Role::admin, "laptop"), base::Error);
  EXPECT_THROW(add_token(path, Role::admin, "two words"), base::Error);
  EXPECT_THROW(add_token(path, Role::admin, "line\nbreak"), base::Error);
}

TEST(Logins, EndAfterADayOrWhenToldTo) {
  Tokens tokens;
  const Identity who = *tokens.find(tokens.make_one(Role::admin, "this-run"));
  Logins logins;
  const Time now = Time() + std::chrono::hours(1);
  const std::string cookie = logins.start(who, now);
  const std::string other = logins.start(who, now);
  EXPECT_EQ(logins.find(cookie, tokens, now)->role, Role::admin);
  EXPECT_FALSE(logins.find(cookie, tokens, now + std::chrono::hours(25)));
  EXPECT_FALSE(logins.find("", tokens, now));
  EXPECT_FALSE(logins.find("0", tokens, now));
  logins.end(cookie);
  EXPECT_FALSE(logins.find(cookie, tokens, now));
  EXPECT_TRUE(logins.find(other, tokens, now));
}

}  // namespace
}  // namespace fathom::serve
