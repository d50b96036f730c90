#include "profiler/leftovers.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "profiler/activity_writer.h"
#include "profiler/live_file.h"
#include "profiler/packets.h"
#include "profiler/run_file.h"
#include "profiler/slice_writer.h"

namespace fathom::detail {
namespace {

// Read and never mapped: to look at a hole of a mapped file would give it memory.
class LiveInput {
 public:
  explicit LiveInput(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  ~LiveInput() {
    if (fd_ >= 0) close(fd_);
  }
  LiveInput(const LiveInput&) = delete;
  LiveInput& operator=(const LiveInput&) = delete;

  bool read(void* into, std::size_t bytes, std::size_t at) const {
    return pread(fd_, into, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
  }

 private:
  const int fd_;
};

// The names of the process that is gone, as they are numbered here.
class TheirNames {
 public:
  TheirNames(const LiveInput& input, std::size_t used) {
    std::string bytes(std::min(used, kLiveNameBytes), '\0');
    if (!input.read(bytes.data(), bytes.size(), kLiveNamesAt)) return;
    std::uint32_t head[2];
    for (std::size_t at = 0; at + sizeof head <= bytes.size();) {
      std::memcpy(head, bytes.data() + at, sizeof head);
      at += sizeof head;
      if (head[1] > bytes.size() - at || head[0] > kMaxOperations + 1) return;
      if (head[0] >= names_.size()) names_.resize(head[0] + 1);
      names_[head[0]] = Name(std::string_view(bytes).substr(at, head[1]));
      at += (head[1] + 7) / 8 * 8;
    }
  }

  Name here(std::uint32_t id) const {
    if (id == 0) return {};
    return id < names_.size() && !names_[id].empty() ? names_[id] : Name("(name lost)");
  }
  GpuActivity here(GpuActivity activity) const {
    activity.name = here(activity.name.id());
    activity.backend = here(activity.backend.id());
    activity.message = here(activity.message.id());
    return activity;
  }
  MemoryRecord here(MemoryRecord record) const {
    record.name = here(record.name.id());
    return record;
  }
  DeviceRecord here(DeviceRecord device) const {
    device.name = here(device.name.id());
    return device;
  }

 private:
  std::vector<Name> names_;
};

// The handler of a WordReader, for words with their names.
struct TheirSlices {
  SliceWriter& slices;
  const TheirNames& names;

  void begin(OperationId operation, std::uint64_t ticks, const WordNotes* notes) const {
    slices.begin(names.here(operation).id(), ticks, notes);
  }
  void end(std::uint64_t ticks, const WordNotes* notes) const { slices.end(ticks, notes); }
  void restart() const { slices.restart(); }
  void ended(EndedElsewhere scope) const {
    scope.operation = names.here(scope.operation).id();
    slices.ended(scope);
  }
  static std::size_t plain(std::span<const Word> /*words*/, const WordTime& /*time*/) { return 0; }
};

// How many words of a block are there. Of a block that its thread was in, the thread alone knew:
// what follows the words that are certain is a word of its own, and not one of an earlier use of
// the block, where it begins or ends a scope at a time since the block was begun.
std::size_t words_in(const Block& block) {
  if (const Word* const end = block.end.load(std::memory_order_relaxed)) {
    const std::size_t at = reinterpret_cast<std::uintptr_t>(end) % kBlockBytes;
    return at == 0 ? Block::kWords : (std::max(at, Block::kHeaderBytes) - Block::kHeaderBytes) / 8;
  }
  constexpr std::uint64_t kClocksApart = 1000;  // ticks, between one CPU and another
  constexpr std::uint64_t kTimeBits = (std::uint64_t{1} << 48) - 1;
  const std::uint64_t longest = ticks() - block.start + 2 * kClocksApart;
  std::size_t count = std::min<std::size_t>(block.settled.load(), Block::kWords);
  for (; count < Block::kWords; ++count) {
    const Word word = block.words[count];
    if (tag_of(word) > kMaxIndex) break;
    if ((((word >> 16) - block.start + kClocksApart) & kTimeBits) > longest) break;
  }
  return count;
}

// Bytes in the run file that begin a scope.
constexpr std::size_t kLeastPacket = 10;

struct LeftBlock {
  std::uint64_t place = 0;
  std::size_t at = 0;  // in the live file
  Block::Progress progress;
};

class Leftovers {
 public:
  Leftovers(const LiveInput& input, const LiveHeader& header, const LivePass& pass,
            const std::string& run_file)
      : input_(input),
        header_(header),
        pass_(pass),
        names_(input, header.names_used.load()),
        file_(run_file, pass.file_bytes),
        clock_(pass.clock_rate != 0 ? ClockLine(pass.clock_from, pass.clock_rate)
                                    : ClockLine(header.process_start, read_clocks())) {}

  void add_scopes() {
    std::map<std::uint32_t, std::vector<LeftBlock>> threads;
    for (std::size_t i = 0; i < kLiveBlocks; ++i) {
      const std::size_t at = kLiveBlocksAt + i * kBlockBytes;
      const std::uint32_t thread = read_block(at, Block::kHeaderBytes);
      if (thread != 0) threads[thread].push_back({block_->place, at, last_progress()});
    }
    for (auto& [thread, blocks] : threads) add_thread(thread, blocks);
  }

  void add_activities() {
    std::map<std::uint64_t, std::size_t> blocks;
    for (std::size_t i = 0; i < kLiveActivityBlocks; ++i) {
      const std::size_t at = kLiveActivitiesAt + i * sizeof(ActivityBlock);
      std::uint64_t number = 0;
      if (input_.read(&number, sizeof number, at) && number > pass_.activity_block) {
        blocks[number] = at;
      }
    }
    ActivityWriter writer(file_, 2, header_.process_track, header_.pid, pass_);
    const auto block = std::make_unique<ActivityBlock>();
    for (const auto& [number, at] : blocks) {
      if (!input_.read(static_cast<void*>(block.get()), sizeof(ActivityBlock), at)) continue;
      block->read([&](const auto& record) { writer.write(names_.here(record)); });
    }
  }

 private:
  std::uint32_t read_block(std::size_t at, std::size_t bytes) {
    if (!input_.read(static_cast<void*>(block_.get()), bytes, at) || block_->start == 0) return 0;
    return block_->thread.load();
  }

  // As of the last pass that was complete; of pass 0 where the writer had not come to it.
  Block::Progress last_progress() const {
    Block::Progress last;
    for (const Block::Progress& progress : block_->progress) {
      if (progress.pass <= header_.pass && progress.pass > last.pass) last = progress;
    }
    return last;
  }

  void add_thread(std::uint32_t thread, std::vector<LeftBlock>& blocks) {
    std::ranges::sort(blocks, {}, &LeftBlock::place);
    auto first = blocks.begin();
    for (auto at = blocks.begin(); at != blocks.end(); ++at) {
      if (at->progress.pass != 0) first = at;
    }
    // Where there was no room in the live file, what went before is not known.
    if (first->progress.pass == 0 && first->place != 0) return;
    const std::uint32_t sequence = next_sequence_++;
    SliceWriter slices(file_, sequence, header_.pid, header_.start_ns, clock_,
                       open_scopes(first->progress));
    WordReader reader{WordTime(first->progress.time)};
    bool has_begun = false;
    std::uint64_t place = first->place;
    for (auto at = first; at != blocks.end() && at->place == place; ++at, ++place) {
      if (read_block(at->at, kBlockBytes) != thread) return;
      if (!std::exchange(has_begun, true)) begin_thread(sequence, thread);
      const std::size_t from = at == first ? at->progress.word : 0;
      const std::size_t count = words_in(*block_);
      if (from < count) {
        reader.read({block_->words + from, count - from}, TheirSlices{slices, names_});
      }
    }
  }

  // Of a thread, as far as the file can have that many: each was begun there.
  std::size_t open_scopes(const Block::Progress& progress) {
    const std::size_t open = std::min<std::size_t>(progress.depth, open_scopes_left_);
    open_scopes_left_ -= open;
    return open;
  }

  void begin_thread(std::uint32_t sequence, std::uint32_t thread) {
    const std::uint64_t track = track_number(header_.pid, header_.start_ns, thread);
    const std::string_view name(block_->name, strnlen(block_->name, sizeof block_->name));
    std::string out;
    append_sequence_start(out, sequence, track, header_.start_ns);
    append_thread(out, sequence, track, header_.process_track, header_.pid, block_->tid, name);
    file_.append(out);
  }

  const LiveInput& input_;
  const LiveHeader& header_;
  const LivePass& pass_;
  const TheirNames names_;
  RunFile file_;
  const SteeredClock clock_;
  const std::unique_ptr<Block> block_ = std::make_unique<Block>();
  std::size_t open_scopes_left_ = static_cast<std::size_t>(pass_.file_bytes) / kLeastPacket;
  std::uint32_t next_sequence_ = 1'000'000;  // past those of the process itself
};

}  // namespace

void add_leftovers(const std::string& live_file, const std::string& run_file) {
  const LiveInput input(live_file);
  const auto header = std::make_unique<LiveHeader>();
  if (!input.read(static_cast<void*>(header.get()), sizeof(LiveHeader), 0)) return;
  if (header->magic.load() != kLiveMagic || header->is_over.load() != 0) return;
  Leftovers leftovers(input, *header, header->passes[header->pass.load() % 2], run_file);
  leftovers.add_activities();
  leftovers.add_scopes();
}

}  // namespace fathom::detail
