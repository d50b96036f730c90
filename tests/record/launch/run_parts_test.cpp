#include "record/launch/run_parts.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace fathom::record::run_parts_test {

namespace fs = std::filesystem;

class RunPartsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "fathom-parts-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  static std::string content(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  static std::string part(const RunParts& parts, const std::string& process) {
    std::string name = parts.pattern();
    return name.replace(name.find("%p"), 2, process);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  std::string folder_;
};

TEST_F(RunPartsTest, JoinsThePartsOfAllProcesses) {
  {
    RunParts parts(path("run.pftrace"));
    std::ofstream(part(parts, "12")) << "twelve.";
    std::ofstream(part(parts, "13")) << "thirteen.";
    const JoinedRun joined = parts.join("first.");
    EXPECT_EQ(joined.processes, 2U);
    EXPECT_TRUE(joined.still_going.empty());
  }
  EXPECT_EQ(content(path("run.pftrace")), "first.twelve.thirteen.");
  EXPECT_EQ(files(), 1U);
}

TEST_F(RunPartsTest, APartThatIsStillWrittenStaysAFileOfItsOwn) {
  RunParts parts(path("run.pftrace"));
  const std::string name = part(parts, "77");
  const int writer = open(name.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(flock(writer, LOCK_EX), 0);
  ASSERT_EQ(write(writer, "early,", 6), 6);
  const JoinedRun joined = parts.join("");
  ASSERT_EQ(joined.still_going, std::vector<std::string>{path("run.77.pftrace")});
  ASSERT_EQ(write(writer, "late", 4), 4);
  close(writer);
  EXPECT_EQ(content(path("run.77.pftrace")), "early,late");
  EXPECT_EQ(content(path("run.pftrace")), "");
}

TEST_F(RunPartsTest, ARunThatCannotBeWrittenIsSaidBeforeTheProgramStarts) {
  EXPECT_THROW(RunParts(path("no/such/folder/run.pftrace")), base::Error);
}

TEST_F(RunPartsTest, ReservedNamesAreNeverGivenTwice) {
  EXPECT_EQ(reserve_run_file(path("run.pftrace")), path("run.pftrace"));
  EXPECT_EQ(reserve_run_file(path("run.pftrace")), path("run-2.pftrace"));
  EXPECT_EQ(reserve_run_file(path("run.pftrace")), path("run-3.pftrace"));
}

}  // namespace fathom::record::run_parts_test
