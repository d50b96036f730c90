#include "base/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"

namespace fathom::base::output_test {
namespace fs = std::filesystem;

class OutputFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "fathom-output-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static void write(const std::string& path, const std::string& text) {
    Output output(path);
    output.buffer() = text;
    output.finish();
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  static mode_t mode(const std::string& path) {
    struct stat info = {};
    ::stat(path.c_str(), &info);
    return info.st_mode & 07777U;
  }

  fs::path folder_;
};

TEST_F(OutputFile, HasTheModeThatTheUserAsksFor) {
  const mode_t before = ::umask(027);
  write(path("new"), "x");
  ::umask(before);
  EXPECT_EQ(mode(path("new")), 0640U);
}

TEST_F(OutputFile, KeepsTheModeOfWhatItReplaces) {
  write(path("old"), "x");
  ::chmod(path("old").c_str(), 0604);
  write(path("old"), "y");
  EXPECT_EQ(mode(path("old")), 0604U);
  EXPECT_EQ(read(path("old")), "y");
}

TEST_F(OutputFile, ALinkKeepsPointing) {
  fs::create_directory(path("real"));
  write(path("real/file"), "x");
  fs::create_symlink("real/file", path("link"));
  fs::create_symlink("link", path("link_of_link"));
  write(path("link_of_link"), "y");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_symlink(path("link_of_link")));
  EXPECT_EQ(read(path("real/file")), "y");
  fs::create_symlink("real/later", path("dangling"));
  write(path("dangling"), "z");
  EXPECT_TRUE(fs::is_symlink(path("dangling")));
  EXPECT_EQ(read(path("real/later")), "z");
}

TEST_F(OutputFile, APipeIsWrittenToAndStays) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  write(path("pipe"), "through");
  char got[16] = {};
  EXPECT_EQ(::read(reader, got, sizeof got), 7);
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(OutputFile, ADeviceIsWrittenToAndStays) {
  fs::create_symlink("/dev/null", path("null"));
  write(path("null"), "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFile, ThatCannotBeWrittenIsAnErrorAndLeavesNothing) {
  EXPECT_THROW(write("/dev/full", std::string(1 << 20, 'x')), Error);
  EXPECT_THROW(write(path("none/file"), "x"), Error);
  EXPECT_THROW(write(folder_.string(), "x"), Error);
  { const Output never_finished(path("half")); }
  EXPECT_EQ(files(), 0);
}

TEST_F(OutputFile, OfALongNameIsWritten) {
  write(path(std::string(255, 'n')), "x");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFile, LeavesNothingWhenASignalEndsTheProcess) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    const pid_t child = ::fork();
    if (child == 0) {
      Output output(path("half"));
      output.buffer() = std::string(1 << 20, 'x');
      output.flush_if_full();
      ::raise(signal);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(files(), 0);
  }
}

// As on a file system that has no files without a name: without /proc nothing can be linked later.
TEST_F(OutputFile, ThatHasANameBeforeItIsWholeIsTakenAwayByASignal) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const pid_t child = fork();
    if (child == 0) {
      const bool is_hidden = unshare(CLONE_NEWNS) == 0 &&
                             mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                             umount2("/proc", MNT_DETACH) == 0;
      if (!is_hidden) _exit(77);
      write(path("whole"), "x");
      Output output(path("half"));
      if (files() != 2) _exit(78);
      raise(signal);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "not root";
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_EQ(files(), 1) << "the whole one alone";
  }
}

}  // namespace fathom::base::output_test
