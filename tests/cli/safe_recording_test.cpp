// What is the user's own stays whole while a program is recorded: files, devices, the exit status.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "cli/run_program.h"

namespace fathom::cli::safe_recording_test {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char* kScopes = FATHOM_BINARY_DIR "/bin/scoped_program";
constexpr const char* kFathom = FATHOM_BINARY_DIR "/bin/fathom";

Outcome shell(const Scratch& scratch, const std::string& script, std::vector<std::string> options,
              std::function<void(pid_t)> started = {}) {
  std::vector<std::string> words = {"profile"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", "sh", "-c", script});
  return run_program(words, {.folder = scratch.path(""), .started = std::move(started)});
}

// A shell's exit status of a line in which $FATHOM is the program.
int status_of_line(const Scratch& scratch, const std::string& line) {
  setenv("FATHOM", kFathom, 1);
  const int status = system(("cd " + scratch.path("") + " && " + line).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool is_run(const std::string& path) {
  return run_program({"report", path}).status == 0;
}

std::size_t files_in(const Scratch& scratch) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(scratch.path("")), {}));
}

void wait_for(const std::string& path) {
  for (int i = 0; i < 500 && !fs::exists(path); ++i) std::this_thread::sleep_for(milliseconds(10));
}

TEST(SafeRecording, ADeviceIsWrittenToAndNotReplaced) {
  const Scratch scratch;
  const std::string device = scratch.path("null");
  if (mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) GTEST_SKIP() << "not root";
  for (const char* command : {"profile", "memory"}) {
    const Outcome outcome = run_program({command, "-o", device, "--", "sh", "-c", "exit 3"});
    EXPECT_EQ(outcome.status, 3);
    EXPECT_TRUE(fs::is_character_file(device));
    EXPECT_NE(outcome.err.find("status 3"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("cannot"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(files_in(scratch), 1U);
}

TEST(SafeRecording, APipeIsWrittenToAndNotReplaced) {
  const Scratch scratch;
  EXPECT_EQ(status_of_line(scratch,
                           "mkfifo pipe && { cat pipe > copy.pftrace & "
                           "$FATHOM profile -o pipe -- sh -c 'exit 4' 2> err; s=$?; "
                           "wait; exit $s; }"),
            4);
  EXPECT_TRUE(fs::is_fifo(scratch.path("pipe")));
  EXPECT_TRUE(is_run(scratch.path("copy.pftrace")));
}

TEST(SafeRecording, ALinkKeepsPointing) {
  const Scratch scratch;
  fs::create_symlink("target.pftrace", scratch.path("link.pftrace"));
  for (int i = 0; i < 2; ++i) {  // to nothing yet, then to a run
    EXPECT_EQ(shell(scratch, "exit 0", {"-o", "link.pftrace"}).status, 0);
    EXPECT_TRUE(fs::is_symlink(scratch.path("link.pftrace")));
    EXPECT_TRUE(is_run(scratch.path("target.pftrace")));
  }
}

TEST(SafeRecording, AFileThatIsNotARunIsOverwrittenByForceAlone) {
  const Scratch scratch;
  const std::string notes = scratch.write("notes.txt", "precious");
  for (const char* command : {"profile", "memory"}) {
    const std::string ran = scratch.path("ran");
    const Outcome refused = run_program({command, "-o", notes, "--", "touch", ran});
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.err.find("not overwritten"), std::string::npos) << refused.err;
    EXPECT_FALSE(fs::exists(ran)) << "refused before the program starts";
    EXPECT_EQ(content_of(notes), "precious");
  }
  EXPECT_EQ(run_program({"profile", "-o", notes, "--force", "--", "true"}).status, 0);
  EXPECT_TRUE(is_run(notes));
  EXPECT_EQ(run_program({"profile", "-o", notes, "--", "true"}).status, 0) << "a run by now";
}

TEST(SafeRecording, TheModeOfAFileIsKept) {
  const Scratch scratch;
  const std::string run = scratch.write("run.pftrace", "");
  fs::permissions(run, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(shell(scratch, "exit 0", {"-o", "run.pftrace"}).status, 0);
  EXPECT_EQ(fs::status(run).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(SafeRecording, ADirectoryIsRefusedBeforeTheProgramStarts) {
  const Scratch scratch;
  fs::create_directory(scratch.path("dir"));
  const Outcome outcome = shell(scratch, "touch ran", {"-o", "dir"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("dir: is a directory"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(scratch.path("ran")));
  EXPECT_EQ(files_in(scratch), 1U);
}

// What cannot be written is said in one line, shorter than the name where that is long.
void expect_refused_at_once(const Scratch& scratch, const std::vector<std::string>& options) {
  const Outcome outcome = shell(scratch, "touch ran", options);
  const std::string line = outcome.err.substr(0, 100);
  EXPECT_EQ(outcome.status, 2) << line;
  EXPECT_NE(outcome.err.find(": cannot be written: "), std::string::npos) << line;
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << line;
  EXPECT_FALSE(fs::exists(scratch.path("ran"))) << line;
}

TEST(SafeRecording, ANameThatCannotBeWrittenIsOneLineBeforeTheProgramStarts) {
  const Scratch scratch;
  scratch.write("file", "");
  fs::create_symlink("loop", scratch.path("loop"));
  const std::string too_long(300, 'x');
  for (const std::string& name : {too_long, std::string(5000, 'y'), std::string("file/run"),
                                  std::string("no/run"), std::string("loop")}) {
    expect_refused_at_once(scratch, {"-o", name});
    expect_refused_at_once(scratch, {"--json=" + name});
  }
  expect_refused_at_once(scratch, {"-o", too_long, "--repeat", "2"});
}

TEST(SafeRecording, ANameMayBeAsLongAsFileSystemsAllow) {
  const Scratch scratch;
  const std::string name = std::string(247, 'x') + ".pftrace";
  EXPECT_EQ(shell(scratch, "exit 3", {"-o", name}).status, 3);
  EXPECT_TRUE(is_run(scratch.path(name)));
  EXPECT_EQ(files_in(scratch), 1U);
}

// "%p" is the process id in the names of parts, and no more than two letters in those of users.
TEST(SafeRecording, ANameMayHavePercentSigns) {
  const Scratch scratch;
  fs::create_directory(scratch.path("100%pure"));
  for (const char* const name : {"%p.pftrace", "100%pure/%%p%.pftrace"}) {
    const Outcome outcome = run_program({"profile", "-o", name, "--", kScopes, "scopes", "5"},
                                        {.folder = scratch.path("")});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("5 calls"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(files_in(scratch), 2U) << "the run, and the folder of the other";
}

TEST(SafeRecording, AnOpenPipeIsWrittenTo) {
  const Scratch scratch;
  const std::string line =
      "bash -c '$FATHOM profile -o >(cat > copy.pftrace; touch done) -- sh -c \"exit 4\" 2> err'";
  EXPECT_EQ(status_of_line(scratch, line), 4);
  wait_for(scratch.path("done"));
  EXPECT_TRUE(is_run(scratch.path("copy.pftrace")));
  EXPECT_EQ(status_of_line(scratch,
                           "$FATHOM profile -o /dev/stdout -- touch ran 2> err | cat > out;"
                           "grep -q 'output goes to' err && [ ! -e ran ] && [ ! -s out ]"),
            0);
}

TEST(SafeRecording, AFolderThatIsGoneIsOneLine) {
  const Scratch scratch;
  for (const char* const option : {"-o run.pftrace", ""}) {
    const std::string line =
        std::string("mkdir gone && cd gone && rmdir ../gone && $FATHOM profile ") + option +
        " -- touch " + scratch.path("ran") + " 2> " + scratch.path("err");
    EXPECT_EQ(status_of_line(scratch, line), 2);
    EXPECT_EQ(content_of(scratch.path("err")),
              "fathom: run.pftrace: cannot be written: the directory does not exist. Create it, or "
              "name another file\n");
    EXPECT_FALSE(fs::exists(scratch.path("ran")));
  }
}

TEST(SafeRecording, TheFileThatTheProgramsOutputGoesToIsRefused) {
  const Scratch scratch;
  for (const char* const name : {"/dev/stdout", "out"}) {
    const std::string line = std::string("$FATHOM profile -o ") + name + " -- touch ran > out";
    EXPECT_EQ(status_of_line(scratch, line), 2) << name;
    EXPECT_EQ(content_of(scratch.path("out")), "") << name;
    EXPECT_FALSE(fs::exists(scratch.path("ran")));
  }
}

TEST(SafeRecording, OfTwoRecordingsToOneFileTheLaterIsRefused) {
  const Scratch scratch;
  Outcome second;
  const auto first = shell(scratch, "touch first; while [ ! -e go ]; do sleep 0.02; done; exit 7",
                           {"-o", "run.pftrace"}, [&](pid_t) {
                             wait_for(scratch.path("first"));
                             second = shell(scratch, "touch second", {"-o", "run.pftrace"});
                             scratch.write("go", "");
                           });
  EXPECT_EQ(second.status, 2);
  EXPECT_NE(second.err.find("recorded to by another"), std::string::npos) << second.err;
  EXPECT_FALSE(fs::exists(scratch.path("second")));
  EXPECT_EQ(first.status, 7);
  EXPECT_TRUE(is_run(scratch.path("run.pftrace")));
}

TEST(SafeRecording, RepeatedRunsThatFailLeaveNoneOfAnEarlierRecording) {
  const Scratch scratch;
  const std::vector<std::string> options = {"-o", "x.pftrace", "--repeat", "3"};
  EXPECT_EQ(shell(scratch, "exit 0", options).status, 0);
  EXPECT_EQ(shell(scratch, "[ -e once ] && exit 5; touch once", options).status, 5);
  EXPECT_TRUE(fs::exists(scratch.path("x-1.pftrace")));
  EXPECT_TRUE(fs::exists(scratch.path("x-2.pftrace"))) << "the one that failed";
  EXPECT_FALSE(fs::exists(scratch.path("x-3.pftrace"))) << "of the earlier recording";
}

TEST(SafeRecording, RepeatedRunsAreRefusedBeforeTheFirstWhereAnyCannotBeWritten) {
  const Scratch scratch;
  scratch.write("x-2.pftrace", "precious");
  const Outcome outcome = shell(scratch, "touch ran", {"-o", "x.pftrace", "--repeat", "3"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(files_in(scratch), 1U);
  EXPECT_EQ(content_of(scratch.path("x-2.pftrace")), "precious");
}

TEST(SafeRecording, TheStatusIsTheProgramsWhereStandardErrorIsClosedOrFull) {
  const Scratch scratch;
  for (const char* command : {"profile", "memory"}) {
    for (const char* where : {"2>&-", "2>/dev/full", "2> >(:)", ">&- 2>&- <&-"}) {
      const std::string line = std::string("bash -c \"$FATHOM ") + command +
                               " -o run.pftrace -- sh -c 'exit 6' " + where + "\"";
      EXPECT_EQ(status_of_line(scratch, line), 6) << line;
      EXPECT_TRUE(is_run(scratch.path("run.pftrace"))) << line;
    }
  }
}

TEST(SafeRecording, TheProgramFindsItsStreamsClosedAsTheyWere) {
  const Scratch scratch;
  const std::string line =
      "$FATHOM profile -o run.pftrace -- sh -c '[ -e /proc/self/fd/2 ] && exit 1; exit 8' 2>&-";
  EXPECT_EQ(status_of_line(scratch, line), 8);
}

TEST(SafeRecording, TheStatusIsTheProgramsWhereTheRunCannotBeWritten) {
  const Scratch scratch;
  const std::string full = "$FATHOM profile -o /dev/full -- sh -c 'exit 9' 2> err";
  EXPECT_EQ(status_of_line(scratch, full), 9);
  EXPECT_NE(content_of(scratch.path("err")).find("No space left"), std::string::npos);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  // 1 kB: less than any run.
  const std::string limited =
      std::string("bash -c \"ulimit -f 1; $FATHOM profile -o run.pftrace -- ") + kScopes +
      " scopes 50000; echo \\$? > status\" 2> err";
  EXPECT_EQ(status_of_line(scratch, limited), 0);
  EXPECT_EQ(content_of(scratch.path("status")), "0\n");
  EXPECT_NE(content_of(scratch.path("err")).find("File too large"), std::string::npos);
}

// What the program does is written to `what`, so that a signal can be sent when it is there.
class SignalToFathom : public ::testing::TestWithParam<int> {};

TEST_P(SignalToFathom, ReachesTheProgramAndTheRunIsKept) {
  const Scratch scratch;
  const std::string name = std::to_string(GetParam());
  const Outcome outcome = shell(scratch,
                                "trap 'exit 11' " + name +
                                    "; touch ready; i=0; while [ $i -lt 200 ]; do sleep 0.05; "
                                    "i=$((i+1)); done",
                                {"-o", "run.pftrace"}, [&](pid_t fathom) {
                                  wait_for(scratch.path("ready"));
                                  kill(fathom, GetParam());
                                });
  EXPECT_EQ(outcome.status, 11) << outcome.err;
  EXPECT_TRUE(is_run(scratch.path("run.pftrace")));
}

INSTANTIATE_TEST_SUITE_P(Signals, SignalToFathom,
                         ::testing::Values(SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGHUP,
                                           SIGALRM));

TEST(SafeRecording, FathomMayBeStoppedForAWhile) {
  const Scratch scratch;
  const Outcome outcome =
      shell(scratch, "touch ready; sleep 0.2; exit 12", {"-o", "run.pftrace"}, [&](pid_t fathom) {
        wait_for(scratch.path("ready"));
        kill(fathom, SIGSTOP);
        std::this_thread::sleep_for(milliseconds(400));
        kill(fathom, SIGCONT);
      });
  EXPECT_EQ(outcome.status, 12);
  EXPECT_TRUE(is_run(scratch.path("run.pftrace")));
}

// The program is not Fathom's to end; its part stays, and is a run.
TEST(SafeRecording, AProgramOutlivesAFathomThatIsKilled) {
  const Scratch scratch;
  const Outcome outcome =
      shell(scratch, std::string("touch ready; sleep 0.3; ") + kScopes + " scopes 5; touch done",
            {"-o", "run.pftrace"}, [&](pid_t fathom) {
              wait_for(scratch.path("ready"));
              kill(fathom, SIGKILL);
            });
  EXPECT_EQ(outcome.signal, SIGKILL);
  wait_for(scratch.path("done"));
  std::size_t parts = 0;
  for (const auto& entry : fs::recursive_directory_iterator(scratch.path(""))) {
    if (!entry.path().parent_path().filename().string().starts_with("run.pftrace.parts-")) continue;
    EXPECT_TRUE(is_run(entry.path().string()));
    ++parts;
  }
  EXPECT_EQ(parts, 1U);
}

TEST(SafeRecording, AProgramThatStopsItselfIsWaitedFor) {
  const Scratch scratch;
  const Outcome outcome = shell(scratch, "(sleep 0.1; kill -CONT $$) & kill -STOP $$; exit 5", {});
  EXPECT_EQ(outcome.status, 5) << outcome.err;
  EXPECT_TRUE(is_run(scratch.path("run.pftrace")));
}

TEST(SafeRecording, AProgramThatRemovesTheFolderOfItsRunEndsInOneLine) {
  const Scratch scratch;
  const std::string folder = scratch.path("work");
  fs::create_directory(folder);
  const Outcome outcome = run_program({"profile", "-o", folder + "/run.pftrace", "--", "sh", "-c",
                                       "rm -rf " + folder + "; exit 6"});
  EXPECT_EQ(outcome.status, 6);
  EXPECT_NE(outcome.err.find("fathom: " + folder +
                             "/run.pftrace: cannot be written: the directory does not exist"),
            std::string::npos)
      << outcome.err;
}

}  // namespace fathom::cli::safe_recording_test
