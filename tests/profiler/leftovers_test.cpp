// The memory of a process that is gone, as `fathom profile` finds it: whatever it holds.
#include "profiler/leftovers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>

#include "profiler/clock.h"
#include "profiler/live_file.h"

namespace fathom::detail::leftovers_test {

namespace fs = std::filesystem;

class Leftovers : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (fs::temp_directory_path() / "fathom-leftovers-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    std::ofstream(part()) << std::string(kPartBytes, '\0');
    header_->pid = 7;
    header_->start_ns = 1000;
    header_->process_start = read_clocks();
    header_->passes[1].file_bytes = kPartBytes;
    header_->pass = 1;
    header_->magic = kLiveMagic;
    block_->thread = 1;
    block_->start = ticks();
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string part() const { return folder_ + "/7.pftrace"; }

  // What is added to the part, in bytes.
  std::size_t add() const {
    const std::string live = folder_ + "/live";
    const int fd = open(live.c_str(), O_WRONLY | O_CREAT, 0600);
    put(fd, header_.get(), sizeof(LiveHeader), 0);
    put(fd, activities_.get(), sizeof(ActivityBlock), kLiveActivitiesAt);
    put(fd, block_.get(), sizeof(Block), kLiveBlocksAt);
    close(fd);
    add_leftovers(live, part());
    return fs::file_size(part()) - kPartBytes;
  }

  static constexpr std::size_t kPartBytes = 1000;
  const std::unique_ptr<LiveHeader> header_ = std::make_unique<LiveHeader>();
  const std::unique_ptr<Block> block_ = std::make_unique<Block>();
  const std::unique_ptr<ActivityBlock> activities_ = std::make_unique<ActivityBlock>();

 private:
  static void put(int fd, const void* bytes, std::size_t size, std::size_t at) {
    EXPECT_EQ(pwrite(fd, bytes, size, static_cast<off_t>(at)), static_cast<ssize_t>(size));
  }

  std::string folder_;
};

// Each scope that is open there ends where words are missing; the file can hold the begin of a
// hundred at most.
TEST_F(Leftovers, HaveNoMoreOpenScopesThanTheFileHasBegun) {
  block_->words[0] = escape_word(Escape::restart);
  block_->settled = 1;
  block_->progress[0] = {.pass = 1, .time = block_->start, .word = 0, .depth = 1'000'000};
  const std::size_t added = add();
  EXPECT_GT(added, 100U);
  EXPECT_LT(added, 5000U);
}

TEST_F(Leftovers, WithValuesThatThereAreNotAreWrittenWithoutThem) {
  GpuActivity copy;
  copy.kind = ActivityKind::copy;
  copy.start_ns = INT64_MIN;
  copy.end_ns = INT64_MAX;
  copy.queued_ns = INT64_MAX;
  copy.queue = INT64_MAX;
  activities_->number = 1;
  activities_->add(copy);
  activities_->words[0] |= std::uint64_t{15} << activity_word::kDirectionAt;
  MemoryRecord memory;
  memory.bytes = INT64_MAX;
  activities_->add(memory);
  activities_->add(memory);
  EXPECT_GT(add(), 100U);
}

// Each has a lane of its own; past a thousand, none is looked for.
TEST_F(Leftovers, ThatAllOverlapAreAllWritten) {
  GpuActivity kernel;
  activities_->number = 1;
  while (activities_->has_room()) {
    --kernel.start_ns;
    activities_->add(kernel);
  }
  EXPECT_GT(add(), 100'000U);
}

}  // namespace fathom::detail::leftovers_test
