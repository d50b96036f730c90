#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "advise/rules.h"
#include "base/format.h"
#include "base/interval_set.h"

// Trigger  Of calls of the GPU runtime: memory is allocated or given back 10 times or more, or a
//          program is built or loaded, or a call takes over 1 ms and over 10 times what is usual
//          for its name without waiting for the GPU or for room in a full launch queue: it loads
//          code or sets up the device. Of
//          launches, only those that are the first of a kernel.
// Edit     Allocations and builds: half of them, all but the first, all but the first, go away.
//          Slow first calls: half of the time, then all above what is usual.
namespace fathom::advise {
namespace {

constexpr std::size_t kManyAllocations = 10;
constexpr std::int64_t kSlowCallNs = 1'000'000;
constexpr std::int64_t kTimesUsual = 10;

bool begins_with_any(std::string_view name, auto begins) {
  return std::any_of(begins.begin(), begins.end(),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

bool allocates(std::string_view name) {
  constexpr std::array<std::string_view, 17> kBegins = {
      "cudaMalloc",       "cudaFree",           "cudaHostAlloc",
      "cudaHostRegister", "cudaHostUnregister", "cuMemAlloc",
      "cuMemFree",        "cuMemHostAlloc",     "cuMemCreate",
      "cuMemMap",         "cuMemSetAccess",     "hipMalloc",
      "hipFree",          "hipHostMalloc",      "hipHostFree",
      "clCreateBuffer",   "clReleaseMemObject"};
  return begins_with_any(name, kBegins) && name.find("Async") == name.npos;
}

bool builds(std::string_view name) {
  constexpr std::array<std::string_view, 8> kBegins = {
      "clBuildProgram", "clCompileProgram", "clLinkProgram", "cuModuleLoad",
      "cuLibraryLoad",  "cuLinkComplete",   "hipModuleLoad", "cuLinkAddData"};
  return begins_with_any(name, kBegins);
}

struct Calls {
  std::vector<SpanId> allocations;
  std::vector<SpanId> builds;
  std::vector<SpanId> slow;
};

// What is usual for calls of a name; 0 where there are too few to tell.
std::int64_t usual_ns(const Facts& facts, trace::NameId name) {
  std::vector<std::int64_t> times;
  for (SpanId id = 0; id < facts.spans.size(); ++id) {
    if (facts.spans.name[id] == name) times.push_back(facts.spans.duration_ns[id]);
  }
  if (times.size() < 3) return 0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

bool may_set_up(const Facts& facts, SpanId id) {
  const analyze::CallRole role = facts.role(id);
  return facts.spans.duration_ns[id] >= kSlowCallNs && role != analyze::CallRole::copy &&
         !is_sync(role) && !facts.is_wait(id) && !facts.is_blocked(id);
}

enum class About : std::uint8_t { unknown, other, memory, program };

About about(std::string_view name) {
  if (builds(name)) return About::program;
  return allocates(name) ? About::memory : About::other;
}

// The launch of each kernel that came first, in order.
std::vector<SpanId> first_launches(const Facts& facts) {
  std::map<trace::NameId, const analyze::WorkRow*> first;
  for (const analyze::WorkRow& row : facts.on.gpu.rows) {
    const analyze::WorkRow*& so_far = first[row.name];
    if (so_far == nullptr || row.start_ns < so_far->start_ns) so_far = &row;
  }
  std::vector<SpanId> launches;
  for (const auto& [name, row] : first) launches.push_back(row->launch);
  std::sort(launches.begin(), launches.end());
  return launches;
}

// Slow launches of kernels that ran before were held up by something else.
void keep_first_uses(const Facts& facts, std::vector<SpanId>& slow) {
  if (slow.empty()) return;
  const std::vector<SpanId> first = first_launches(facts);
  std::erase_if(slow, [&](SpanId call) {
    return facts.role(call) == analyze::CallRole::launch &&
           !std::binary_search(first.begin(), first.end(), call);
  });
}

Calls calls_of(const Facts& facts) {
  Calls found;
  std::vector<About> known(facts.trace.names.size());  // each distinct name is looked at once
  std::map<trace::NameId, std::int64_t> usual;         // of names with slow calls, which are few
  for (SpanId id = 0; id < facts.spans.size(); ++id) {
    if (facts.spans.kind[id] != SpanKind::runtime_call) continue;
    const trace::NameId name = facts.spans.name[id];
    if (known[name] == About::unknown) known[name] = about(facts.trace.names.view(name));
    const bool may_be_slow = may_set_up(facts, id);
    if (known[name] == About::other && !may_be_slow) continue;
    const std::uint32_t thread = facts.thread_of(id);
    if (thread == analyze::HostLines::kNoThread || !facts.takes_part[thread]) continue;
    if (known[name] == About::program) {
      found.builds.push_back(id);
      continue;
    }
    if (may_be_slow && !usual.contains(name)) usual[name] = usual_ns(facts, name);
    if (may_be_slow && facts.spans.duration_ns[id] >= kTimesUsual * usual[name]) {
      found.slow.push_back(id);
    } else if (known[name] == About::memory) {
      found.allocations.push_back(id);
    }
  }
  keep_first_uses(facts, found.slow);
  return found;
}

// Of the run: what several threads or processes do at the same time counts once.
std::int64_t time_of(const Facts& facts, const std::vector<SpanId>& calls) {
  std::vector<base::Interval> times;
  for (const SpanId id : calls) times.push_back({facts.spans.start_ns[id], facts.spans.end_ns(id)});
  return base::total_length(base::normalize(std::move(times)));
}

Candidate candidate_of(const Facts& facts, const std::vector<SpanId>& calls) {
  Candidate found = found_by("setup", SuggestionType::caching, time_of(facts, calls));
  show(found.words, facts.trace, calls);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  return found;
}

std::string time_text(const Facts& facts, std::int64_t ns) {
  return fmt::format("{} ({} of the run)", base::format_duration(static_cast<double>(ns)),
                     base::format_percent(facts.share(ns)));
}

Candidate of_allocations(const Facts& facts, const std::vector<SpanId>& calls) {
  Candidate found = candidate_of(facts, calls);
  found.words.title = "Reuse device memory instead of allocating it again";
  found.words.description = fmt::format(
      "{} to allocate or free memory took {} on threads that launch GPU work; many of them "
      "make the host wait for the device.",
      base::format_plural(calls.size(), "call", "calls"), time_text(facts, found.concerns_ns));
  found.supposes = "if all but the first reuse memory";
  found.words.implementation_hint = hint_for(
      facts.platform,
      {.words = "Allocate before the loop and reuse it.",
       .pytorch = " PyTorch's allocator does so once it has seen the sizes: keep them the "
                  "same, and keep torch.cuda.empty_cache() out of the step.",
       .cuda = " Or use a memory pool.\n"
               "cudaMallocAsync(&data, bytes, stream);  // from the device's pool",
       .opencl = " One large buffer can be split up.\n"
                 "clCreateSubBuffer(all, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, "
                 "&error);"});
  found.edit = [&facts, calls](Edits& edits, Effort effort) {
    for (std::size_t i = 1; i < calls.size(); i += pick<std::size_t>(effort, 2, 1, 1)) {
      ignore_waits_of(edits, facts.plan, calls[i]);
      scale_host(edits, facts.plan, calls[i], 0);
    }
  };
  return found;
}

Candidate of_builds(const Facts& facts, const std::vector<SpanId>& calls) {
  Candidate found = candidate_of(facts, calls);
  found.words.title = "Build GPU programs once and keep them";
  found.words.description = fmt::format("{} to build or load programs took {}.",
                                        base::format_plural(calls.size(), "call", "calls"),
                                        time_text(facts, found.concerns_ns));
  found.supposes = "if what was built is kept between runs";
  found.words.implementation_hint = hint_for(
      facts.platform,
      {.words = "Build or load each program once, before its first use.",
       .pytorch = " torch.compile and Triton cache what they build in a directory: keep it "
                  "between runs, and warm up.",
       .cuda = " Ship machine code for the GPU in use: what is shipped as source or in an "
               "intermediate form is compiled on loading.",
       .opencl = " Save its binary and load that next time, or make sure that the driver's kernel "
                 "cache is on.\n"
                 "clGetProgramInfo(program, CL_PROGRAM_BINARIES, size, binaries, NULL);  // save\n"
                 "clCreateProgramWithBinary(context, 1, &device, …);  // next time"});
  found.edit = [&facts, calls](Edits& edits, Effort effort) {
    for (const SpanId call : calls) {
      scale_host(edits, facts.plan, call, pick(effort, 0.5, 0.1, 0.0));
    }
  };
  return found;
}

std::string warm_up_hint(const Platform& platform) {
  std::string hint = hint_for(
      platform,
      {.words = "Before the part that matters or is traced, do once everything that the first use "
                "sets up",
       .pytorch =
           ": run a few steps.\nfor _ in range(3): step(batch)  # before the profiler starts",
       .cuda = ": create streams and library handles, and launch each kernel once.",
       .opencl = ": create contexts, queues and kernels, and enqueue each kernel once."});
  if (platform.runtime == Runtime::cuda) {
    hint += "\nexport CUDA_MODULE_LOADING=EAGER  # load code when the program starts";
  }
  return hint;
}

Candidate of_slow_calls(const Facts& facts, const std::vector<SpanId>& calls) {
  Candidate found = candidate_of(facts, calls);
  found.words.title = "Warm up first: some calls set up the device or load code";
  found.words.description = fmt::format(
      "{} took {}, far more than such calls usually take, without waiting for any work: the first "
      "use "
      "of a device or kernel sets it up. This is not part of the steady state.",
      base::format_plural(calls.size(), "runtime call", "runtime calls"),
      time_text(facts, found.concerns_ns));
  found.supposes = "if that is done beforehand";
  found.words.implementation_hint = warm_up_hint(facts.platform);
  found.edit = [&facts, calls](Edits& edits, Effort effort) {
    for (const SpanId call : calls) {
      scale_host(edits, facts.plan, call, pick(effort, 0.5, 0.0, 0.0));
    }
  };
  return found;
}

}  // namespace

Candidates rule_setup(const Facts& facts) {
  const Calls calls = calls_of(facts);
  Candidates found;
  if (calls.allocations.size() >= kManyAllocations) {
    found.push_back(of_allocations(facts, calls.allocations));
  }
  if (!calls.builds.empty()) found.push_back(of_builds(facts, calls.builds));
  if (!calls.slow.empty()) found.push_back(of_slow_calls(facts, calls.slow));
  return found;
}

}  // namespace fathom::advise
