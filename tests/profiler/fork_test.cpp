// Children of fork(): the parent's threads do not exist there, and nothing waits for them.
#include <fathom/fathom.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace fathom::fork_test {

class Forks : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(FATHOM_THREAD_SANITIZER)
    GTEST_SKIP() << "the thread sanitizer cannot follow threads that a forked child starts";
#endif
    std::string pattern = ::testing::TempDir() + "fathom_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    profiler().configure({});
  }
  void TearDown() override {
    profiler().stop_recording();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::string path(const std::string& name) const {
    return folder_ + "/" + name;
  }

  std::string folder_;
};

// The background threads of the profilers sleep by now, as they do nearly always. Where they do not
// yet, a test sees less, and passes.
void let_threads_fall_asleep() {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

// What waitpid says of a child that does it and ends: SIGALRM where it hung.
int status_in_child(const std::function<void()>& what) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGALRM, SIG_DFL);
    alarm(20);
    what();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(Forks, AChildWakesAWriterOfItsOwnAndNotItsParents) {
  ASSERT_TRUE(profiler().start_recording(path("parent.pftrace")));
  let_threads_fall_asleep();
  EXPECT_EQ(status_in_child([&] {
              for (int i = 0; i < 4; ++i) {
                profiler().start_recording(path("child.pftrace"));
                let_threads_fall_asleep();
                profiler().stop_recording();
              }
            }),
            0);
}

TEST_F(Forks, AChildMayDestroyAProfilerThatItsParentRecordsWith) {
  auto own = std::make_unique<Profiler>();
  ASSERT_TRUE(own->start_recording(path("parent.pftrace")));
  let_threads_fall_asleep();
  EXPECT_EQ(status_in_child([&] { own.reset(); }), 0);
}

TEST_F(Forks, AChildMayStopAndDestroyAMemoryProfiler) {
  auto memory = std::make_unique<MemoryProfiler>(MemoryOptions{.sample_interval_ms = 1e6});
  memory->start();
  let_threads_fall_asleep();
  EXPECT_EQ(status_in_child([&] {
              memory->stop();
              memory->start();
              memory->stop();
              memory.reset();
            }),
            0);
}

}  // namespace fathom::fork_test
