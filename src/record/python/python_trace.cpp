#include "record/python/python_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <protozero/pbf_writer.hpp>

#include "perfetto/fields.h"

namespace fathom::record {
namespace {

namespace pf = perfetto;
using protozero::pbf_writer;

// Apart from those of processes, of the launcher (run_trace.cpp) and of devices (device_trace.cpp).
constexpr std::uint32_t kPythonSequence = 0x0FA72;
constexpr std::uint64_t kFirstPythonTrack = 0x0FA7'2000'0000'0000;
constexpr std::uint64_t kPythonCategory = 1;
constexpr std::uint32_t kAsyncTrack =
    2;  // trace::TrackKind::async: no line of work that a replay waits for
constexpr std::int64_t kLongestGapNs = 50'000'000;

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::uint64_t time_field(std::int64_t ns) {
  return static_cast<std::uint64_t>(ns);
}

}  // namespace

PythonTrace::Thread& PythonTrace::thread_of(Id id) {
  const auto [at, is_new] = threads_.try_emplace(id);
  if (!is_new) return at->second;
  at->second.track = kFirstPythonTrack + threads_.size();
  pbf_writer trace(out_);
  pbf_writer packet(trace, pf::trace::kPacket);
  packet.add_uint32(pf::packet::kSequenceId, kPythonSequence);
  pbf_writer track(packet, pf::packet::kTrackDescriptor);
  track.add_uint64(pf::track_descriptor::kUuid, at->second.track);
  // A row of its own beside the thread's: when a function began and ended is known to 10 ms, and a
  // call of the GPU that lies within those would be said to be made by the wrong one.
  pbf_writer ours(track, pf::track_descriptor::kFathomTrack);
  ours.add_uint32(pf::fathom_track::kKind, kAsyncTrack);
  ours.add_int64(pf::fathom_track::kPid, id.first);
  ours.add_string(pf::fathom_track::kTidText, fmt::format("{} (Python)", id.second));
  ours.add_string(pf::fathom_track::kThreadName,
                  first_line(fmt::format("/proc/{}/task/{}/comm", id.first, id.second)));
  return at->second;
}

void PythonTrace::write_event(const Thread& thread, std::int64_t time_ns,
                              const std::uint32_t* function) {
  pbf_writer trace(out_);
  pbf_writer packet(trace, pf::trace::kPacket);
  packet.add_uint32(pf::packet::kSequenceId, kPythonSequence);
  packet.add_uint64(pf::packet::kTimestamp, time_field(time_ns));
  packet.add_uint32(pf::packet::kTimestampClockId, pf::kMonotonicRaw);
  // The first packet with names clears what a reader knows, the others need it.
  packet.add_uint32(pf::packet::kSequenceFlags,
                    named_ == 0 ? pf::kStateCleared | pf::kNeedsState : pf::kNeedsState);
  if (function != nullptr && (named_ == 0 || *function >= named_)) {
    pbf_writer interned(packet, pf::packet::kInternedData);
    if (named_ == 0) {
      pbf_writer category(interned, pf::interned_data::kEventCategories);
      category.add_uint64(pf::interned::kIid, kPythonCategory);
      category.add_string(pf::interned::kText, "python");
    }
    for (; named_ < names_.size(); ++named_) {
      pbf_writer name(interned, pf::interned_data::kEventNames);
      name.add_uint64(pf::interned::kIid, named_ + 1);
      name.add_string(pf::interned::kText, names_.name(static_cast<std::uint32_t>(named_)));
    }
  }
  pbf_writer event(packet, pf::packet::kTrackEvent);
  event.add_uint32(pf::track_event::kType,
                   function == nullptr ? pf::track_event::kSliceEnd : pf::track_event::kSliceBegin);
  event.add_uint64(pf::track_event::kTrackUuid, thread.track);
  if (function == nullptr) return;
  event.add_uint64(pf::track_event::kCategoryIids, kPythonCategory);
  event.add_uint64(pf::track_event::kNameIid, std::uint64_t{*function} + 1);
}

void PythonTrace::change(Thread& thread, std::int64_t time_ns,
                         const std::vector<std::uint32_t>& to) {
  const auto differs = std::ranges::mismatch(thread.open, to);
  const auto same = static_cast<std::size_t>(differs.in1 - thread.open.begin());
  for (std::size_t i = thread.open.size(); i-- > same;) write_event(thread, time_ns, nullptr);
  for (std::size_t i = same; i < to.size(); ++i) write_event(thread, time_ns, &to[i]);
  thread.open = to;
}

void PythonTrace::add(pid_t process, std::int64_t time_ns, const std::vector<PythonStack>& stacks) {
  for (const PythonStack& stack : stacks) {
    Thread& thread = thread_of({process, stack.thread});
    const std::int64_t changed_ns =
        thread.open.empty() ? time_ns : thread.sampled_ns + (time_ns - thread.sampled_ns) / 2;
    change(thread, changed_ns, stack.functions);
    thread.sampled_ns = time_ns;
  }
  for (auto& [id, thread] : threads_) {
    const bool is_gone = id.first == process && time_ns - thread.sampled_ns > kLongestGapNs;
    if (is_gone) change(thread, thread.sampled_ns, {});
  }
}

void PythonTrace::end(pid_t process, std::int64_t time_ns) {
  for (auto& [id, thread] : threads_) {
    if (id.first == process) change(thread, std::max(time_ns, thread.sampled_ns), {});
  }
}

void PythonTrace::end(std::int64_t time_ns) {
  for (auto& [id, thread] : threads_) change(thread, std::max(time_ns, thread.sampled_ns), {});
}

std::string PythonTrace::take() {
  return std::exchange(out_, {});
}

}  // namespace fathom::record
