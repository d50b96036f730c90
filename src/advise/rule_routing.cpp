#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  An operation of under 1 ms on average copies its data to the GPU, works there and copies
//          the result back, and its kernels take less time than its copies and calls; 10 times or
//          more.
// Edit     It moves to the host: its GPU work and waits go away, and it takes 20, 10 and 5 times as
//          long there as its kernels took, but never longer than it did. Where `fathom tune`
//          measured the operation at these sizes on the machine that asks: 2, 1 and 1 times that.
namespace fathom::advise {
namespace {

constexpr std::int64_t kRoutingShortNs = 1'000'000;
constexpr std::size_t kManyRouting = 10;

// What one call of an operation did on the GPU.
struct Trip {
  std::int64_t kernel_ns = 0;
  std::int64_t other_ns = 0;  // copies and calls
  bool comes_back = false;
  std::optional<double> host_ns;  // as measured
  std::vector<std::uint32_t> rows;
};

struct Trips {
  std::int64_t total_ns = 0;
  std::int64_t kernel_ns = 0;
  std::optional<double> host_ns = 0;  // nothing where it is not known of a call
  std::vector<std::pair<SpanId, Trip>> calls;
};

// A call that something is copied to the GPU for.
std::vector<bool> goers_of(const Facts& facts) {
  std::vector<bool> goes(facts.spans.size());
  for (const WorkRow& row : facts.on.gpu.rows) {
    if (row.launch == kNoSpan || facts.direction(row) != TransferDirection::to_gpu) continue;
    goes[facts.caller_of(row.launch)] = true;
  }
  return goes;
}

std::map<SpanId, Trip> trips_of(const Facts& facts) {
  const std::vector<bool> goes = goers_of(facts);
  std::map<SpanId, Trip> trips;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.launch == kNoSpan) continue;
    const SpanId caller = facts.caller_of(row.launch);
    if (!goes[caller] || caller == row.launch || facts.spans.duration_ns[caller] >= kRoutingShortNs)
      continue;
    Trip& trip = trips[caller];
    trip.rows.push_back(i);
    trip.other_ns += facts.call_ns(row.launch);
    const bool is_kernel = row.type != WorkType::memory;
    (is_kernel ? trip.kernel_ns : trip.other_ns) += row.duration_ns();
    const TransferDirection direction = facts.direction(row);
    trip.comes_back |= direction == TransferDirection::from_gpu;
  }
  return trips;
}

std::optional<double> measured_on_host(const Facts& facts, SpanId call) {
  if (!facts.host_time) return std::nullopt;
  const auto operation = host_operation(facts.trace, call);
  return operation ? facts.host_time(operation->name, operation->size) : std::nullopt;
}

std::map<trace::NameId, Trips> round_trips(const Facts& facts) {
  std::map<trace::NameId, Trips> found;
  for (auto& [call, trip] : trips_of(facts)) {
    const bool is_round = trip.comes_back && trip.kernel_ns > 0;
    if (!is_round || trip.kernel_ns >= trip.other_ns) continue;
    trip.host_ns = measured_on_host(facts, call);
    Trips& trips = found[facts.spans.name[call]];
    trips.total_ns += facts.spans.duration_ns[call];
    trips.kernel_ns += trip.kernel_ns;
    if (trips.host_ns && trip.host_ns) *trips.host_ns += *trip.host_ns;
    if (!trip.host_ns) trips.host_ns.reset();
    trips.calls.emplace_back(call, trip);
  }
  return found;
}

void move_to_host(Edits& edits, const Facts& facts, SpanId call, const Trip& trip, double host_ns) {
  for (const std::uint32_t row : trip.rows) {
    scale_work(edits, facts.plan, row, 0);
    scale_lag(edits, facts.plan, row, 0);
  }
  // The calls that wait go away, and what the host did beside them becomes the work.
  const HostLines& host = facts.on.host;
  const base::Interval time{facts.spans.start_ns[call], facts.spans.end_ns(call)};
  const auto [first, last] = pieces_within(host, facts.thread_of(call), time);
  const auto is_wait = [&](std::size_t piece) {
    return host.span[piece] != kNoSpan && facts.is_wait(host.span[piece]);
  };
  std::int64_t besides_ns = 0;
  for (std::size_t i = first; i < last; ++i)
    if (!is_wait(i)) besides_ns += host.start_ns[i + 1] - host.start_ns[i];
  const double most_ns = std::min(host_ns, static_cast<double>(facts.spans.duration_ns[call]));
  const double factor = besides_ns == 0 ? 1 : most_ns / static_cast<double>(besides_ns);
  for (std::size_t i = first; i < last; ++i) {
    if (is_wait(i)) ignore_waits_of(edits, facts.plan, host.span[i]);
    scale_piece(edits, facts.plan, i, is_wait(i) ? 0 : factor);
  }
}

}  // namespace

Candidates rule_routing(const Facts& facts) {
  Candidates found;
  for (const auto& [name, trips] : round_trips(facts)) {
    if (trips.calls.size() < kManyRouting) continue;
    const auto total_ns = static_cast<double>(trips.total_ns);
    if (trips.host_ns && *trips.host_ns >= total_ns) continue;  // the GPU is faster, trip included
    Candidate one = found_by("routing", SuggestionType::routing, trips.total_ns);
    one.words.operation = facts.trace.names.view(name);
    one.words.title = fmt::format("Run {} on the CPU", base::fit(one.words.operation, 40));
    std::vector<SpanId> spans;
    for (const auto& [call, trip] : trips.calls) spans.push_back(call);
    one.words.description = fmt::format(
        "{} copy to the GPU and back for {} of kernels, {} altogether: the trip costs more than "
        "the work.",
        base::format_plural(trips.calls.size(), "call", "calls"),
        base::format_duration(static_cast<double>(trips.kernel_ns)),
        base::format_duration(total_ns));
    one.supposes =
        trips.host_ns
            ? fmt::format("if the CPU takes the {} that fathom tune measured on this machine",
                          base::format_duration(*trips.host_ns))
            : "if the CPU needs ten times as long as the kernels";
    one.words.implementation_hint =
        "Run small operations on the host, or keep the data on the GPU between operations.";
    show(one.words, facts.trace, std::move(spans));
    one.edit = [&facts, calls = trips.calls, is_measured = trips.host_ns.has_value()](
                   Edits& edits, Effort effort) {
      for (const auto& [call, trip] : calls) {
        const double host_ns =
            is_measured ? *trip.host_ns * pick(effort, 2.0, 1.0, 1.0)
                        : static_cast<double>(trip.kernel_ns) * pick(effort, 20.0, 10.0, 5.0);
        move_to_host(edits, facts, call, trip, host_ns);
      }
    };
    found.push_back(one);
  }
  return found;
}

}  // namespace fathom::advise
