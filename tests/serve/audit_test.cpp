#include "serve/audit.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "cli/run_program.h"

namespace fathom::serve {
namespace {

class AuditTest : public testing::Test {
 protected:
  AuditTest() {
    Audit audit(path);
    for (int i = 1; i <= 6; ++i) {
      audit.write({.event = "request",
                   .address = "127.0.0.1",
                   .who = "a",
                   .role = "admin",
                   .method = "POST",
                   .path = "/api/sessions",
                   .status = 200 + i});
    }
  }

  std::vector<std::string> lines() const {
    std::istringstream text(cli::content_of(path));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }

  AuditVerdict verdict_of(const std::vector<std::string>& lines) const {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    scratch.write("changed", text);
    return verify_audit(scratch.path("changed"));
  }

  cli::Scratch scratch;
  std::string path = scratch.path("audit");
};

TEST_F(AuditTest, LinesAreJsonThatOnlyItsOwnerMayRead) {
  struct stat file {};
  ASSERT_EQ(stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600U);
  const auto line = nlohmann::json::parse(lines()[1]);
  EXPECT_EQ(line["n"], 2);
  EXPECT_EQ(line["who"], "a");
  EXPECT_EQ(line["status"], 202);
  EXPECT_EQ(line["previous"], nlohmann::json::parse(lines()[0])["hash"]);
}

TEST_F(AuditTest, AWholeLogIsSound) {
  const AuditVerdict verdict = verify_audit(path);
  EXPECT_EQ(verdict.fault, "");
  EXPECT_EQ(verdict.lines, 6U);
  EXPECT_EQ(verdict.last_hash, nlohmann::json::parse(lines()[5])["hash"]);
}

TEST_F(AuditTest, ARemovedLineIsFoundWhereItIsMissing) {
  for (std::size_t removed = 0; removed + 1 < 6; ++removed) {
    auto rest = lines();
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(removed));
    const AuditVerdict verdict = verdict_of(rest);
    EXPECT_EQ(verdict.at_line, removed + 1);
    EXPECT_NE(verdict.fault.find("removed"), std::string::npos) << verdict.fault;
  }
}

TEST_F(AuditTest, AChangedLineIsFoundWhereverItStands) {
  for (std::size_t changed = 0; changed < 6; ++changed) {
    auto all = lines();
    all[changed].replace(all[changed].find("sessions"), 8, "Sessions");
    EXPECT_EQ(verdict_of(all).at_line, changed + 1);
  }
}

TEST_F(AuditTest, EveryPartOfALineCounts) {
  const auto all = lines();
  for (std::size_t at = 0; at < all[2].size(); at += 7) {
    auto changed = all;
    changed[2][at] = changed[2][at] == 'x' ? 'y' : 'x';
    EXPECT_EQ(verdict_of(changed).at_line, 3U) << at;
  }
}

TEST_F(AuditTest, ALineThatIsWrittenAnewWithARightHashBreaksTheOneAfterIt) {
  auto all = lines();
  std::string content = all[2].substr(0, all[2].rfind(",\"hash\""));
  content.replace(content.find("sessions"), 8, "Sessions");
  all[2] = content + ",\"hash\":\"" + to_hex(sha256(content)) + "\"}";
  const AuditVerdict verdict = verdict_of(all);
  EXPECT_EQ(verdict.at_line, 4U);
  EXPECT_NE(verdict.fault.find("does not follow"), std::string::npos);
}

TEST_F(AuditTest, LinesThatAreMovedOrRepeatedAreFound) {
  auto all = lines();
  std::swap(all[2], all[3]);
  EXPECT_EQ(verdict_of(all).at_line, 3U);
  all = lines();
  all.insert(all.begin() + 3, all[2]);
  EXPECT_EQ(verdict_of(all).at_line, 4U);
}

TEST_F(AuditTest, LinesCutFromTheEndShowInTheirNumberAlone) {
  auto all = lines();
  all.resize(4);
  const AuditVerdict verdict = verdict_of(all);
  EXPECT_EQ(verdict.fault, "") << "what a chain cannot show";
  EXPECT_EQ(verdict.lines, 4U) << "and what to compare";
}

TEST_F(AuditTest, AServerGoesOnWithTheLog) {
  {
    Audit audit(path);
    EXPECT_EQ(audit.lines(), 6U);
    audit.write({.event = "started"});
  }
  EXPECT_EQ(verify_audit(path).lines, 7U);
  EXPECT_EQ(verify_audit(path).fault, "");
}

TEST_F(AuditTest, TwoServersDoNotShareALog) {
  const Audit audit(path);
  EXPECT_THROW(Audit second(path), base::Error);
}

TEST_F(AuditTest, SomethingElseIsNotWrittenTo) {
  const std::string other = scratch.write("notes.txt", "my notes\n");
  EXPECT_THROW(Audit audit(other), base::Error);
  EXPECT_EQ(cli::content_of(other), "my notes\n");
}

TEST_F(AuditTest, WhatAStrangerSendsCannotMakeALineOfItsOwn) {
  {
    Audit audit(path);
    audit.write({.event = "request", .path = "/a\"}\n{\"n\":99", .status = 404});
  }
  EXPECT_EQ(lines().size(), 7U);
  EXPECT_EQ(verify_audit(path).fault, "");
}

TEST_F(AuditTest, WhatAStrangerSendsMakesNoLongLine) {
  {
    Audit audit(path);
    const std::string method(10'000, 'A');
    audit.write({.event = "request", .method = method, .path = "/", .status = 405});
  }
  EXPECT_LT(lines().back().size(), 1000U);
  EXPECT_EQ(verify_audit(path).fault, "");
}

TEST_F(AuditTest, AMissingFileIsSaid) {
  EXPECT_THROW(verify_audit(scratch.path("missing")), base::Error);
  EXPECT_THROW(verify_audit(scratch.path("")), base::Error);
}

}  // namespace
}  // namespace fathom::serve
