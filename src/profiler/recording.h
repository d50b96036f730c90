#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "profiler/activity_writer.h"
#include "profiler/live_file.h"
#include "profiler/run_file.h"
#include "profiler/slice_writer.h"
#include "profiler/thread_state.h"

namespace fathom::detail {

class Core;

// A run file while it is written: follows the words of all threads from a thread of its own.
class Recording {
 public:
  // With a live file where the environment has a folder for it and `is_live`. Throws base::Error.
  Recording(Core& core, const std::string& path, bool is_live);
  ~Recording();  // with all that was recorded until then
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  void abandon() noexcept;  // in a forked child, where the writing thread does not exist

 private:
  // How far the writer has come with one thread.
  struct Sequence {
    Sequence(RunFile& file, std::shared_ptr<ThreadState> followed, std::uint32_t id,
             std::int64_t start_ns, const SteeredClock& clock);

    std::shared_ptr<ThreadState> thread;
    WordReader reader;
    SliceWriter slices;
    Block* block = nullptr;
    const Word* at = nullptr;
  };
  // A block that has been read. It stays as it is until what was read is in the file.
  struct Done {
    std::shared_ptr<ThreadState> thread;
    Block* block = nullptr;
  };

  void run();
  void write_all();
  void write_words(Sequence& sequence);
  bool next_block(Sequence& sequence);
  void note_progress(const Sequence& sequence) const;
  void finish_pass();
  void publish();
  void leave_threads();
  void add_sequence(const std::shared_ptr<ThreadState>& thread);
  void write_end();

  Core& core_;
  RunFile file_;
  SteeredClock clock_;
  const std::int64_t start_ns_;
  const std::uint64_t process_track_;
  std::map<const ThreadState*, Sequence> sequences_;
  ActivityWriter activities_;
  ActivityLog::Stream activity_stream_;
  LiveFile* live_ = nullptr;  // never freed: blocks that are kept may be in it
  std::uint64_t pass_ = 0;
  std::uint64_t written_activities_ = 0;  // the number of the last block of them
  std::vector<Done> done_;
  std::uint32_t next_sequence_ = 3;  // 1 is the run's own, 2 that of GPU activities

  std::thread writer_;
};

}  // namespace fathom::detail
