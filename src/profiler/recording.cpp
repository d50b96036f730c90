#include "profiler/recording.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>

#include "profiler/clock.h"
#include "profiler/core.h"
#include "profiler/packets.h"

namespace fathom::detail {
namespace {

// Without a live file, what a program loses that ends without a word (_exit, exec, a signal) is
// what it did since.
constexpr auto kPeriod = std::chrono::milliseconds(20);

// The part cannot be written any more: all that is not in it stays in the live file, where the
// launcher finds it.
struct LeftToTheLauncher {};

// Blocks that wait for what was read of them to be in the file: a megabyte.
constexpr std::size_t kMostDone = 16;

std::string read_process_file(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string command_line() {
  std::string command = read_process_file("/proc/self/cmdline");
  while (!command.empty() && command.back() == '\0') command.pop_back();
  for (char& c : command) c = c == '\0' ? ' ' : c;
  return command;
}

std::string process_name() {
  std::string name = read_process_file("/proc/self/comm");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// The program's signals are for the program's own threads.
template <typename F>
std::thread start_quiet_thread(F&& body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread(std::forward<F>(body));
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

Recording::Sequence::Sequence(RunFile& file, std::shared_ptr<ThreadState> followed,
                              std::uint32_t id, std::int64_t start_ns, const SteeredClock& clock)
    : thread(std::move(followed)), slices(file, id, getpid(), start_ns, clock) {}

Recording::Recording(Core& core, const std::string& path, bool is_live)
    : core_(core),
      file_(path),
      start_ns_(monotonic_raw_ns()),
      process_track_(track_number(getpid(), start_ns_, 0)),
      activities_(file_, 2, process_track_) {
  std::string out;
  append_run_start(out, {getpid(), command_line(), process_name(), host_name(), process_track_,
                         unix_ns(), start_ns_});
  file_.append(out);
  file_.flush();
  if (is_live) live_ = LiveFile::create(file_.absolute_path(), start_ns_, process_track_);
  if (live_ != nullptr) file_.be_quiet_when_lost();
  publish();
  core_.set_live(live_);
  core_.signal.stopping = false;
  writer_ = start_quiet_thread([this] { run(); });
  pthread_setname_np(writer_.native_handle(), "fathom");
  core_.activities.set_streaming(true);
  core_.set_recording(true);
}

Recording::~Recording() {
  if (!writer_.joinable()) return;
  core_.set_recording(false);
  {
    const std::lock_guard lock(core_.signal.mutex);
    core_.signal.stopping = true;
  }
  core_.signal.changed.notify_one();
  writer_.join();
}

void Recording::abandon() noexcept {
  file_.abandon();
  if (live_ != nullptr) live_->let_go_in_child();
}

void Recording::run() {
  bool stopping = false;
  while (!stopping) {
    {
      WriterSignal& signal = core_.signal;
      std::unique_lock lock(signal.mutex);
      signal.changed.wait_for(lock, kPeriod, [&] { return signal.woken || signal.stopping; });
      signal.woken = false;
      stopping = signal.stopping;
    }
    clock_.calibrate();
    try {
      write_all();
    } catch (const LeftToTheLauncher&) {
      // Never freed: what it holds is in the live file.
      static_cast<void>(new ActivityLog::Stream(std::move(activity_stream_)));
      return;
    } catch (...) {
      // No memory: the words wait, or are dropped and counted.
    }
  }
  leave_threads();
  core_.activities.set_streaming(false);
  try {
    write_end();
  } catch (...) {
    // The statistics are missing from the file, as after a kill.
  }
  file_.flush();
  if (live_ != nullptr) live_->finish();
}

void Recording::write_all() {
  ++pass_;
  for (const auto& thread : core_.all_threads()) {
    if (!sequences_.contains(thread.get())) add_sequence(thread);
  }
  std::vector<const ThreadState*> finished;
  for (auto& [pointer, sequence] : sequences_) {
    // Asked first: a thread that is gone writes no more words.
    if (sequence.thread->finished.load(std::memory_order_acquire)) finished.push_back(pointer);
    write_words(sequence);
  }
  core_.activities.take_stream(activity_stream_);
  activities_.write(activity_stream_);
  written_activities_ = std::max(written_activities_, activity_stream_.last_number());
  finish_pass();
  for (const ThreadState* const thread : finished) {
    core_.release(*thread);
    sequences_.erase(thread);
  }
}

// Everything that was read is in the file from here on, and the live file says so.
void Recording::finish_pass() {
  file_.flush();
  if (file_.is_lost() && live_ != nullptr) throw LeftToTheLauncher{};
  publish();
  for (const Done& done : done_) {
    const std::lock_guard lock(done.thread->mutex);
    release_streamed(*done.thread, done.block);
  }
  done_.clear();
}

void Recording::publish() {
  if (live_ == nullptr) return;
  LivePass state;
  state.file_bytes = file_.written();
  state.activity_block = written_activities_;
  activities_.save(state);
  if (clock_.is_calibrated()) {
    state.clock_from = clock_.line().from();
    state.clock_rate = clock_.line().rate();
  }
  live_->publish(pass_, state);
}

void Recording::add_sequence(const std::shared_ptr<ThreadState>& thread) {
  const std::uint32_t id = next_sequence_++;
  const std::uint64_t track = track_number(getpid(), start_ns_, thread->number + 1);
  std::string out;
  append_sequence_start(out, id, track, start_ns_);
  append_thread(out, id, track, process_track_, getpid(), thread->track_tid, thread->name);
  file_.append(out);
  sequences_.try_emplace(thread.get(), file_, thread, id, start_ns_, clock_);
}

void Recording::write_words(Sequence& sequence) {
  ThreadState& thread = *sequence.thread;
  if (sequence.block == nullptr) {
    const std::lock_guard lock(thread.mutex);
    if (thread.stream == nullptr) return;
    sequence.block = thread.stream;
    sequence.at = sequence.block->words;
  }
  do {
    const Word* limit = sequence.block->end.load(std::memory_order_acquire);
    if (limit == nullptr) limit = thread.cursor.load(std::memory_order_acquire);
    // A cursor that is not here has left since we looked for the end, which is there next time.
    if (!sequence.block->holds(limit)) return;
    sequence.reader.read({sequence.at, limit}, sequence.slices);
    const bool has_moved = sequence.at != limit;
    sequence.at = limit;
    if (has_moved) note_progress(sequence);
  } while (next_block(sequence));
}

// In place of the older of the two notes, which no pass that is complete needs any more.
void Recording::note_progress(const Sequence& sequence) const {
  Block& block = *sequence.block;
  const std::uint32_t word = block.index_of(sequence.at);
  const auto pending = static_cast<std::uint32_t>(sequence.reader.pending());
  const bool first_is_newer = block.progress[0].pass > block.progress[1].pass;
  const std::size_t newer = first_is_newer ? 0 : 1;
  const std::size_t place = block.progress[newer].pass == pass_ ? newer : 1 - newer;
  block.progress[place] = {pass_, sequence.reader.time().last(), word - std::min(word, pending),
                           static_cast<std::uint32_t>(sequence.slices.depth())};
}

bool Recording::next_block(Sequence& sequence) {
  Block* const block = sequence.block;
  if (block->end.load(std::memory_order_acquire) != sequence.at) return false;
  Block* const next = block->next.load(std::memory_order_acquire);
  if (next == nullptr) return false;
  done_.push_back({sequence.thread, block});
  {
    const std::lock_guard lock(sequence.thread->mutex);
    sequence.thread->stream = next;
  }
  sequence.block = next;
  sequence.at = next->words;
  note_progress(sequence);
  if (done_.size() >= kMostDone) {
    finish_pass();
    ++pass_;
  }
  return true;
}

void Recording::leave_threads() {
  for (auto& [pointer, sequence] : sequences_) {
    const std::lock_guard lock(sequence.thread->mutex);
    release_stream(*sequence.thread);
  }
  for (const auto& thread : core_.all_threads()) {
    if (thread->finished.load(std::memory_order_acquire)) core_.release(*thread);
  }
}

void Recording::write_end() {
  const double ns_per_tick = clock_since_start().ns_per_tick();
  std::vector<NamedFigures> operations;
  for (const auto& [operation, stats] : core_.statistics()) {
    operations.push_back({stats.figures(ns_per_tick), operation_name(operation)});
  }
  std::string out;
  append_run_end(out, operations, core_.dropped_scopes(), core_.activities.unwritten());
  file_.append(out);
}

}  // namespace fathom::detail
