#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  Calls that do nothing but wait for the GPU cost it 1 % of the run. They cost the time
//          that a GPU is idle after them, before work that is launched only then, and no more than
//          they took: a wait that the GPU works through, with work queued behind it, costs nothing.
//          Copies to the host wait too, but only where the call takes 10 times as long as the copy
//          is it the reading and not the bytes that costs.
// Edit     The waits are left out, so that the host runs ahead: every second one, all, all. Those
//          in which the host reads a result, which may be needed, are a suggestion of their own, of
//          which none, every second one and all are left out; and so are those inside a copy to the
//          GPU, which have other remedies: one for single values (64 bytes and less), one for more.
namespace fathom::advise {
namespace {

constexpr double kSyncTriggerPct = 1;

// What a wait is part of, and so what can be done about it.
enum class WaitKind : std::uint8_t { plain, copy_in, value_in, read };

constexpr std::int64_t kValueBytes = 64;
constexpr std::int64_t kTimesCopy = 10;

struct Wait {
  SpanId call = kNoSpan;
  WaitKind part = WaitKind::plain;
  std::int64_t costs_ns = 0;
};

struct Waits {
  std::vector<SpanId> calls;
  std::int64_t time_ns = 0;  // several threads may wait at once
  std::int64_t costs_ns = 0;
};

// Whether a span of one of these names is around the call.
bool is_inside(const Facts& facts, SpanId call, const auto& names) {
  return innermost_that(facts.spans, call, [&](SpanId at) {
           return std::find(names.begin(), names.end(), facts.trace.name(at)) != names.end();
         }) != kNoSpan;
}

bool reads_a_scalar(const Facts& facts, SpanId call) {
  constexpr std::array<std::string_view, 2> kReads = {"aten::item", "aten::_local_scalar_dense"};
  return is_inside(facts, call, kReads);
}

// The last copy that the call waited for and that was launched where the call was made, or by the
// call itself: what was copied long before is not what it is about.
const WorkRow* copy_waited_for(const Facts& facts, SpanId call) {
  const auto& waits = facts.on.host_waits;
  const auto by_call = [](const analyze::HostWait& a, SpanId b) { return a.call < b; };
  const WorkRow* found = nullptr;
  auto wait = std::lower_bound(waits.begin(), waits.end(), call, by_call);
  for (; wait != waits.end() && wait->call == call; ++wait) {
    const WorkRow& row = facts.on.gpu.rows[wait->on];
    if (facts.direction(row) == TransferDirection::other || row.launch == kNoSpan) continue;
    const bool is_own = row.launch == call || facts.caller_of(row.launch) == facts.caller_of(call);
    if (is_own && (found == nullptr || row.end_ns > found->end_ns)) found = &row;
  }
  return found;
}

bool is_single_value(const Facts& facts, const WorkRow& copy) {
  const std::int64_t bytes = facts.bytes_of(copy.span);
  return bytes > 0 && bytes <= kValueBytes;
}

// Nothing where the host waited for bytes that come back, and not for the work before them: that is
// a matter of how fast they are copied.
std::optional<WaitKind> kind_of_sync(const Facts& facts, SpanId call) {
  constexpr std::array<std::string_view, 3> kCopies = {"aten::copy_", "aten::_to_copy", "aten::to"};
  const WorkRow* copy = copy_waited_for(facts, call);
  const bool comes_back = copy != nullptr && facts.direction(*copy) == TransferDirection::from_gpu;
  if (reads_a_scalar(facts, call)) return WaitKind::read;
  if (comes_back) {
    const bool waits_for_bytes = !is_single_value(facts, *copy) &&
                                 facts.spans.duration_ns[call] < kTimesCopy * copy->duration_ns();
    return waits_for_bytes ? std::nullopt : std::optional(WaitKind::read);
  }
  if (!is_inside(facts, call, kCopies)) return WaitKind::plain;
  return copy != nullptr && is_single_value(facts, *copy) ? WaitKind::value_in : WaitKind::copy_in;
}

// A call that copies and waits: of those to the GPU, all but single values are the matter of
// `copies`.
std::optional<WaitKind> kind_of_copy(const Facts& facts, SpanId call) {
  const WorkRow* copy = copy_waited_for(facts, call);
  if (copy == nullptr || copy->launch != call) return std::nullopt;
  if (facts.spans.duration_ns[call] < kTimesCopy * copy->duration_ns()) return std::nullopt;
  if (facts.direction(*copy) == TransferDirection::from_gpu) return WaitKind::read;
  return is_single_value(facts, *copy) ? std::optional(WaitKind::value_in) : std::nullopt;
}

// By thread and time, as their numbers are.
std::vector<Wait> waits_of(const Facts& facts) {
  std::vector<Wait> found;
  for (const SpanId call : facts.waits) {
    const base::Interval time = {facts.spans.start_ns[call], facts.spans.end_ns(call)};
    // What it waited for was launched before the recording began.
    if (base::length_within(facts.unrecorded, time) * 2 > time.length()) continue;
    std::optional<WaitKind> kind;
    if (is_sync(facts.role(call))) {
      kind = kind_of_sync(facts, call);
    } else if (facts.role(call) == CallRole::copy) {
      kind = kind_of_copy(facts, call);
    }
    if (kind) found.push_back({call, *kind, 0});
  }
  return found;
}

// Work that a GPU was idle before, because it was launched only then.
struct LateWork {
  SpanId launch = kNoSpan;
  std::int64_t idle_ns = 0;
};

// By thread that launches, in order of time. Each GPU by itself: one that works does not help
// another that has nothing to do.
std::map<trace::TrackId, std::vector<LateWork>> late_work(const Facts& facts) {
  std::map<trace::TrackId, std::vector<LateWork>> found;
  for (const analyze::DeviceWork& device : facts.on.gpu.devices) {
    std::int64_t busy_until = INT64_MAX;
    for (const std::uint32_t index : device.by_start) {
      const WorkRow& row = facts.on.gpu.rows[index];
      const bool is_late = row.start_ns > busy_until && row.launch != kNoSpan &&
                           facts.spans.start_ns[row.launch] >= busy_until;
      if (is_late) {
        found[facts.spans.track[row.launch]].push_back({row.launch, row.start_ns - busy_until});
      }
      busy_until = busy_until == INT64_MAX ? row.end_ns : std::max(busy_until, row.end_ns);
    }
  }
  for (auto& [track, late] : found) {
    std::stable_sort(late.begin(), late.end(), [&](const LateWork& a, const LateWork& b) {
      return facts.spans.start_ns[a.launch] < facts.spans.start_ns[b.launch];
    });
  }
  return found;
}

// Waits by when they were over: of each thread, and of all for threads that never wait (the
// backward pass has one).
struct WaitsByEnd {
  std::vector<Wait*> all;
  std::map<trace::TrackId, std::vector<Wait*>> of_track;

  const std::vector<Wait*>& before(trace::TrackId track) const {
    const auto own = of_track.find(track);
    return own == of_track.end() ? all : own->second;
  }
};

WaitsByEnd by_end(const Facts& facts, std::vector<Wait>& waits) {
  WaitsByEnd found;
  for (Wait& wait : waits) found.all.push_back(&wait);
  std::stable_sort(found.all.begin(), found.all.end(), [&](const Wait* a, const Wait* b) {
    return facts.spans.end_ns(a->call) < facts.spans.end_ns(b->call);
  });
  for (Wait* wait : found.all) found.of_track[facts.spans.track[wait->call]].push_back(wait);
  return found;
}

// The last that was over pays first, and each no more than it took.
void pay(const Facts& facts, std::vector<Wait*>& over, std::int64_t idle_ns) {
  while (idle_ns > 0 && !over.empty()) {
    Wait& wait = *over.back();
    const std::int64_t pays = std::min(idle_ns, facts.spans.duration_ns[wait.call] - wait.costs_ns);
    wait.costs_ns += pays;
    idle_ns -= pays;
    if (idle_ns > 0) over.pop_back();
  }
}

// Without the waits before it, late work would have been launched as much earlier as they took.
void charge(const Facts& facts, std::vector<Wait>& waits) {
  const WaitsByEnd ordered = by_end(facts, waits);
  for (const auto& [track, late] : late_work(facts)) {
    const std::vector<Wait*>& before = ordered.before(track);
    std::vector<Wait*> over;  // that have not paid all yet
    auto next = before.begin();
    for (const LateWork& work : late) {
      const std::int64_t launched = facts.spans.start_ns[work.launch];
      for (; next != before.end() && facts.spans.end_ns((*next)->call) <= launched; ++next) {
        over.push_back(*next);
      }
      pay(facts, over, work.idle_ns);
    }
  }
}

// Those of a part that cost anything.
Waits of_part(const Facts& facts, const std::vector<Wait>& waits, WaitKind part) {
  Waits found;
  std::vector<base::Interval> time;
  for (const Wait& wait : waits) {
    if (wait.part != part || wait.costs_ns == 0) continue;
    found.calls.push_back(wait.call);
    found.costs_ns += wait.costs_ns;
    time.push_back({facts.spans.start_ns[wait.call], facts.spans.end_ns(wait.call)});
  }
  found.time_ns = base::total_length(base::normalize(std::move(time)));
  return found;
}

// "clFinish", "cudaStreamSynchronize and cudaDeviceSynchronize": what is called most first.
std::string names_of(const Facts& facts, const std::vector<SpanId>& calls) {
  std::map<trace::NameId, std::size_t> counts;
  for (const SpanId call : calls) ++counts[facts.spans.name[call]];
  std::vector<std::pair<std::size_t, trace::NameId>> by_count;
  for (const auto& [name, count] : counts) by_count.emplace_back(count, name);
  std::stable_sort(by_count.begin(), by_count.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text(facts.trace.names.view(by_count[0].second));
  if (by_count.size() > 1)
    text += fmt::format(" and {}", facts.trace.names.view(by_count[1].second));
  return text;
}

// Leaves out one in `every`; none where that is 0.
void leave_out(Edits& edits, const ReplayPlan& plan, const std::vector<SpanId>& calls,
               std::size_t every) {
  for (std::size_t i = 0; every > 0 && i < calls.size(); i += every) {
    ignore_waits_of(edits, plan, calls[i]);
  }
}

Candidate candidate_of(const Facts& facts, const Waits& waits) {
  Candidate found = found_by("sync", SuggestionType::parallelization, waits.costs_ns);
  show(found.words, facts.trace, waits.calls);
  found.words.operation = facts.trace.name(facts.caller_of(found.words.evidence.front()));
  found.supposes = "if the host does not wait";
  found.edit = [&facts, calls = waits.calls](Edits& edits, Effort effort) {
    leave_out(edits, facts.plan, calls, pick<std::size_t>(effort, 2, 1, 1));
  };
  return found;
}

std::string seen(const Facts& facts, const Waits& waits) {
  return fmt::format(
      "the host waited {} ({} of the run) in {} of {}; each time a GPU then ran out of work, for "
      "up to {} in total{}.",
      base::format_duration(static_cast<double>(waits.time_ns)),
      base::format_percent(facts.share(waits.time_ns)),
      base::format_plural(waits.calls.size(), "call", "calls"), names_of(facts, waits.calls),
      base::format_duration(static_cast<double>(waits.costs_ns)),
      facts.on.gpu.devices.size() > 1 ? " over all GPUs" : "");
}

Candidate of_plain(const Facts& facts, const Waits& waits) {
  Candidate found = candidate_of(facts, waits);
  found.words.title = "Let the host run ahead: remove synchronisation";
  found.words.description = "Before launching more work, " + seen(facts, waits);
  found.words.implementation_hint = fmt::format(
      "Keep {} out of the loop. {}", names_of(facts, waits.calls),
      hint_for(
          facts.platform,
          {.words = "Make GPU work wait for GPU work instead of the host, and wait once at the "
                    "end.",
           .pytorch = "\ndone.record(copy_stream)\n"
                      "compute_stream.wait_event(done)  # the host continues",
           .cuda = "\ncudaEventRecord(done, copy_stream);\n"
                   "cudaStreamWaitEvent(compute_stream, done, 0);  // the host continues",
           .opencl = "\nclFlush(queue);  // the device starts, the host continues\n"
                     "clWaitForEvents(1, &last);  // where a result is needed"}));
  return found;
}

// Pinned memory does nothing for copies that take no time. Where no copy says its size, it may.
bool may_be_worth_pinning(const Facts& facts, const Waits& waits) {
  constexpr std::int64_t kWorthPinning = 64'000;
  std::int64_t largest = 0;
  for (const SpanId call : waits.calls) {
    const WorkRow* copy = copy_waited_for(facts, call);
    if (copy != nullptr) largest = std::max(largest, facts.bytes_of(copy->span));
  }
  return largest == 0 || largest >= kWorthPinning;
}

// Only PyTorch has such copies to be inside of.
Candidate of_copies(const Facts& facts, const Waits& waits) {
  Candidate found = candidate_of(facts, waits);
  found.words.title = "Copy to the GPU without waiting, or create the data there";
  found.words.description = "In copies to the GPU, " + seen(facts, waits);
  found.words.implementation_hint =
      "Such a copy makes the host wait for everything queued before it. Create the data on the "
      "GPU, "
      "index with tensors already there, or copy ahead without blocking.\n"
      "positions = torch.arange(length, device=\"cuda\")  # instead of .to(\"cuda\")";
  if (may_be_worth_pinning(facts, waits)) {
    found.words.implementation_hint +=
        "\nbatch = batch.pin_memory().to(\"cuda\", non_blocking=True)  # ahead of its use";
  }
  return found;
}

Candidate of_values(const Facts& facts, const Waits& waits) {
  Candidate found = candidate_of(facts, waits);
  found.comes_first = true;
  found.words.title = "Create single values on the GPU instead of uploading them";
  found.words.description = "To upload single values of 64 bytes or less, " + seen(facts, waits);
  found.words.implementation_hint = hint_for(
      facts.platform,
      {.words = "The host waits for everything queued before such a copy. Let the GPU make the "
                "value, or pass it as an argument of the kernel",
       .pytorch = ".\nvalue = torch.full((), x, device=\"cuda\")  # instead of "
                  "torch.tensor(x).to(\"cuda\")",
       .cuda = ".\nkernel<<<blocks, threads, 0, stream>>>(data, value);  // by value, no copy",
       .opencl = ".\nclSetKernelArg(kernel, 1, sizeof(value), &value);"});
  return found;
}

// What to do instead of reading each value; there is a loss only where a model is trained.
std::string_view scalar_hint(const Platform& platform) {
  return platform.trains
             ? " Each .item(), and each tensor that is printed or used in an if, waits.\n"
               "total_loss += loss.detach()  # instead of loss.item()\n"
               "if step % 50 == 0: print(total_loss.item() / 50)"
             : " Each .item(), and each tensor that is printed or used in an if, waits.\n"
               "results.append(result)  # on the GPU, instead of result.item()\n"
               "values = torch.stack(results).tolist()  # several with one wait";
}

std::string read_hint(const Facts& facts, const Waits& waits) {
  const bool scalars = std::count_if(waits.calls.begin(), waits.calls.end(),
                                     [&](SpanId call) { return reads_a_scalar(facts, call); }) *
                           2 >=
                       static_cast<std::ptrdiff_t>(waits.calls.size());
  return hint_for(
      facts.platform,
      {.words = "Read results less often, several together, and only where they are used.",
       .pytorch = scalars ? scalar_hint(facts.platform)
                          : " Data-dependent sizes (nonzero, unique, indexing with a mask) are "
                            "read too.\n"
                            "result = result.to(\"cpu\", non_blocking=True)  # wait for an event "
                            "before it is used",
       .cuda = "\ncudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, copy_stream);  // to "
               "pinned memory\n"
               "cudaEventRecord(copied, copy_stream);  // wait for this where it is used",
       .opencl = "\nclEnqueueReadBuffer(queue, from, CL_FALSE, 0, bytes, to, 0, NULL, &copied);\n"
                 "clWaitForEvents(1, &copied);  // where it is used"});
}

Candidate of_reads(const Facts& facts, const Waits& waits) {
  Candidate found = candidate_of(facts, waits);
  found.words.title = "Keep results on the GPU: the host reads them one by one";
  found.words.description = "To read results from the GPU, " + seen(facts, waits);
  found.supposes = "if every second one of these reads is left out or comes later";
  found.words.implementation_hint = read_hint(facts, waits);
  found.edit = [&facts, calls = waits.calls](Edits& edits, Effort effort) {
    leave_out(edits, facts.plan, calls, pick<std::size_t>(effort, 0, 2, 1));
  };
  return found;
}

}  // namespace

Candidates rule_sync(const Facts& facts) {
  std::vector<Wait> all = waits_of(facts);
  charge(facts, all);
  const Waits plain = of_part(facts, all, WaitKind::plain);
  const Waits copies = of_part(facts, all, WaitKind::copy_in);
  const Waits values = of_part(facts, all, WaitKind::value_in);
  const Waits reads = of_part(facts, all, WaitKind::read);
  const std::int64_t costs = plain.costs_ns + copies.costs_ns + values.costs_ns + reads.costs_ns;
  if (facts.share(costs) < kSyncTriggerPct) return {};
  Candidates found;
  if (!plain.calls.empty()) found.push_back(of_plain(facts, plain));
  if (!copies.calls.empty()) found.push_back(of_copies(facts, copies));
  if (!values.calls.empty()) found.push_back(of_values(facts, values));
  if (!reads.calls.empty()) found.push_back(of_reads(facts, reads));
  return found;
}

}  // namespace fathom::advise
