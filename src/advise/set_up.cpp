#include "advise/set_up.h"

#include <algorithm>
#include <array>
#include <map>

#include "advise/facts.h"

namespace fathom::advise {
namespace {

using analyze::CallRole;
using trace::SpanId;
using trace::SpanKind;

constexpr std::int64_t kSlowCallNs = 1'000'000;
constexpr std::int64_t kTimesUsualCall = 10;

bool begins_with_any(std::string_view name, const auto& begins) {
  return std::any_of(begins.begin(), begins.end(),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

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

bool may_be_slow(const Facts& facts, SpanId id) {
  const CallRole role = facts.role(id);
  return facts.spans.duration_ns[id] >= kSlowCallNs && role != CallRole::copy && !is_sync(role) &&
         !facts.is_wait(id) && !facts.is_blocked(id);
}

// A slow launch of a kernel that ran before was held up by something else, and one without others
// beside it may be a graph that takes long to launch.
bool sets_up_by_its_time(const Facts& facts, SpanId id, std::int64_t usual) {
  if (facts.spans.duration_ns[id] < kTimesUsualCall * usual) return false;
  return facts.role(id) != CallRole::launch || (usual > 0 && facts.is_first_launch(id));
}

enum class About : std::uint8_t { unknown, other, memory, program };

About about(std::string_view name) {
  if (builds_a_program(name)) return About::program;
  return allocates(name) ? About::memory : About::other;
}

}  // namespace

bool allocates(std::string_view call_name) {
  constexpr std::array<std::string_view, 17> kBegins = {
      "cudaMalloc",       "cudaFree",           "cudaHostAlloc",
      "cudaHostRegister", "cudaHostUnregister", "cuMemAlloc",
      "cuMemFree",        "cuMemHostAlloc",     "cuMemCreate",
      "cuMemMap",         "cuMemSetAccess",     "hipMalloc",
      "hipFree",          "hipHostMalloc",      "hipHostFree",
      "clCreateBuffer",   "clReleaseMemObject"};
  return begins_with_any(call_name, kBegins) && call_name.find("Async") == call_name.npos;
}

bool builds_a_program(std::string_view call_name) {
  constexpr std::array<std::string_view, 8> kBegins = {
      "clBuildProgram", "clCompileProgram", "clLinkProgram", "cuModuleLoad",
      "cuLibraryLoad",  "cuLinkComplete",   "hipModuleLoad", "cuLinkAddData"};
  return begins_with_any(call_name, kBegins);
}

std::vector<SpanId> set_up_calls(const Facts& facts) {
  std::vector<SpanId> found;
  std::vector<About> known(facts.trace.names.size());  // each distinct name is looked at once
  std::map<trace::NameId, std::int64_t> usual;         // of names with slow calls, which are few
  const std::int64_t first_work = facts.busy.empty() ? INT64_MAX : facts.busy.front().begin;
  for (SpanId id = 0; id < facts.spans.size(); ++id) {
    if (facts.spans.kind[id] != SpanKind::runtime_call) continue;
    const trace::NameId name = facts.spans.name[id];
    if (known[name] == About::unknown) known[name] = about(facts.trace.names.view(name));
    const bool is_slow = may_be_slow(facts, id);
    if (known[name] == About::other && !is_slow) continue;
    const std::uint32_t thread = facts.thread_of(id);
    if (thread == analyze::HostLines::kNoThread || !facts.takes_part[thread]) continue;
    if (is_slow && !usual.contains(name)) usual[name] = usual_ns(facts, name);
    const bool is_early = known[name] == About::memory && facts.spans.start_ns[id] < first_work;
    if (known[name] == About::program || is_early ||
        (is_slow && sets_up_by_its_time(facts, id, usual[name]))) {
      found.push_back(id);
    }
  }
  return found;
}

}  // namespace fathom::advise
