#include "analyze/flame/flame.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "analyze/operations/host_spans.h"
#include "random_gpu_trace.h"
#include "trace/track_label.h"

namespace fathom::analyze::flame_test {

using trace::kNoSpan;
using trace::SpanId;
using trace::SpanKind;
using trace::Trace;

constexpr FlameOptions kEverything{.min_duration_ns = 0, .max_depth = 1000};

struct Figures {
  std::int64_t cpu = 0, gpu = 0, count = 0;
  bool operator==(const Figures&) const = default;
};

// Own figures of each path, "thread;a cpu_op;b kernel".
using ByPath = std::map<std::string, Figures>;

ByPath paths_of(const FlameTree& tree) {
  std::vector<std::string> path(tree.nodes.size());
  ByPath found;
  for (FlameNodeId id = 1; id < tree.nodes.size(); ++id) {
    const FlameNode& node = tree.nodes[id];
    path[id] = path[node.parent] + ";" + std::string(tree.name(id));
    if (!node.is_root) path[id] += " " + std::string(name_of(node.kind));
    found[path[id]] = {node.cpu_self_ns, node.gpu_self_ns, node.count_self};
  }
  return found;
}

// The definition, instant by instant.
class BruteForce {
 public:
  explicit BruteForce(const Trace& trace) : trace_(trace), host_(trace) {}

  ByPath paths() {
    for (SpanId id = 0; id < trace_.spans.size(); ++id) {
      if (host_.contains(id)) {
        found_[path_of(id)].count += 1;
        found_[root_of(id)];
      }
    }
    for (std::int64_t t = 0; t < 80; ++t) {
      for (trace::TrackId track = 0; track < trace_.tracks.size(); ++track) add_instant(track, t);
    }
    for (SpanId id = 0; id < trace_.spans.size(); ++id) {
      if (trace::is_gpu_work(trace_.spans.kind[id])) add_gpu_work(id);
    }
    return found_;
  }

 private:
  SpanId around(SpanId id) const {
    SpanId up = trace_.spans.parent[id];
    while (up != kNoSpan && !host_.contains(up)) up = trace_.spans.parent[up];
    return up;
  }
  std::string root_of(SpanId id) const {
    return ";" + label_of(trace_.tracks[trace_.spans.track[id]]);
  }
  std::string call_of(SpanId id) const {
    return ";" + std::string(trace_.name(id)) + " " + std::string(name_of(trace_.spans.kind[id]));
  }
  std::string path_of(SpanId id) const {
    const SpanId up = around(id);
    return (up == kNoSpan ? root_of(id) : path_of(up)) + call_of(id);
  }

  // From the outside in: the first that holds the instant has it.
  void add_instant(trace::TrackId track, std::int64_t t) {
    SpanId inside = kNoSpan;
    for (bool deeper = true; deeper;) {
      deeper = false;
      for (SpanId id = 0; id < trace_.spans.size() && !deeper; ++id) {
        if (trace_.spans.track[id] != track || !host_.contains(id) || around(id) != inside)
          continue;
        if (trace_.spans.start_ns[id] > t || trace_.spans.end_ns(id) <= t) continue;
        inside = id;
        deeper = true;
      }
    }
    if (inside != kNoSpan) found_[path_of(inside)].cpu += 1;
  }

  bool is_of_a_thread(SpanId id) const {
    return trace_.tracks[trace_.spans.track[id]].kind == trace::TrackKind::thread;
  }

  // Of the calls with its correlation, the last that began before the work did, else the first.
  SpanId launch_of(SpanId id) const {
    const trace::Spans& spans = trace_.spans;
    SpanId before = kNoSpan;
    SpanId after = kNoSpan;
    for (SpanId at = 0; at < spans.size(); ++at) {
      const bool waits = spans.kind[at] == SpanKind::sync && is_of_a_thread(at);
      if (spans.kind[at] != SpanKind::runtime_call && !waits) continue;
      if (spans.correlation[at] != spans.correlation[id] || spans.correlation[id] < 0) continue;
      if (spans.start_ns[at] <= spans.start_ns[id]) {
        if (before == kNoSpan || spans.start_ns[at] > spans.start_ns[before]) before = at;
      } else if (after == kNoSpan || spans.start_ns[at] < spans.start_ns[after]) {
        after = at;
      }
    }
    const SpanId launch = before != kNoSpan ? before : after;
    return launch != kNoSpan && host_.contains(launch) ? launch : kNoSpan;
  }

  void add_gpu_work(SpanId id) {
    const SpanId launch = launch_of(id);
    const std::string root = ";GPU work without a launch";
    if (launch == kNoSpan) found_[root];
    Figures& figures = found_[(launch == kNoSpan ? root : path_of(launch)) + call_of(id)];
    figures.gpu += trace_.spans.duration_ns[id];
    figures.count += 1;
  }

  const Trace& trace_;
  HostSpans host_;
  ByPath found_;
};

TEST(Flame, AgreesWithTheDefinitionInstantByInstant) {
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    const Trace trace = trace::random_gpu_trace(random);
    EXPECT_EQ(paths_of(flame_tree(trace, kEverything)), BruteForce(trace).paths()) << round;
  }
}

TEST(Flame, ChildrenNeverTakeMoreThanTheirParent) {
  std::mt19937 random(4);
  for (int round = 0; round < 400; ++round) {
    const FlameTree tree = flame_tree(trace::random_gpu_trace(random), kEverything);
    for (const FlameNode& node : tree.nodes) {
      EXPECT_GE(node.cpu_self_ns, 0);
      EXPECT_LE(node.cpu_ns, tree.nodes[node.parent].cpu_ns);
      EXPECT_LE(node.gpu_ns, tree.nodes[node.parent].gpu_ns);
      EXPECT_LE(node.count, tree.nodes[node.parent].count);
    }
  }
}

TEST(Flame, TheWholeIsTheSameWhateverIsLeftOut) {
  std::mt19937 random(5);
  for (int round = 0; round < 400; ++round) {
    const Trace trace = trace::random_gpu_trace(random);
    std::int64_t gpu = 0;
    for (SpanId id = 0; id < trace.spans.size(); ++id) {
      if (trace::is_gpu_work(trace.spans.kind[id])) gpu += trace.spans.duration_ns[id];
    }
    const FlameTree all = flame_tree(trace, kEverything);
    EXPECT_EQ(all.nodes[0].gpu_ns, gpu);
    for (const bool group : {false, true}) {
      const FlameTree some = flame_tree(
          trace, {.min_duration_ns = round % 20, .max_depth = 2, .group_small_kernels = group});
      EXPECT_EQ(some.nodes[0].cpu_ns, all.nodes[0].cpu_ns);
      EXPECT_EQ(some.nodes[0].gpu_ns, gpu);
      EXPECT_EQ(some.nodes[0].count, all.nodes[0].count);
      for (const FlameNode& node : some.nodes) {
        EXPECT_TRUE(node.is_root || node.cpu_ns >= round % 20 || node.gpu_ns >= round % 20);
      }
    }
  }
}

struct Made {
  trace::TracePart part;

  void span(trace::TrackKind kind, std::int64_t tid, const char* name, SpanKind what,
            std::int64_t start_us, std::int64_t us, std::int64_t correlation = -1) {
    trace::SpanRow row;
    row.track = part.track(kind, kind == trace::TrackKind::thread ? 9 : 0, tid);
    row.name = part.names.intern(name);
    row.kind = what;
    row.start_ns = start_us * 1000;
    row.duration_ns = us * 1000;
    row.correlation = correlation;
    part.spans.push_back(row);
  }
  Trace trace() {
    std::vector<trace::TracePart> parts;
    parts.push_back(std::move(part));
    return assemble(std::move(parts), {});
  }
};

constexpr auto kThread = trace::TrackKind::thread;
constexpr auto kStream = trace::TrackKind::gpu_stream;

Trace two_steps() {
  Made made;
  for (const int step : {0, 1}) {
    const int at = step * 100;
    made.span(kThread, 1, step == 0 ? "ProfilerStep#3" : "ProfilerStep#4", SpanKind::annotation, at,
              90);
    made.span(kThread, 1, "aten::mm", SpanKind::cpu_op, at + 10, 50);
    made.span(kThread, 1, "cudaLaunchKernel", SpanKind::runtime_call, at + 20, 10, step + 1);
    made.span(kStream, 7, "sgemm", SpanKind::kernel, at + 40, 60, step + 1);
  }
  made.span(kStream, 7, "memset", SpanKind::fill, 300, 15);
  return made.trace();
}

TEST(Flame, KernelsStandUnderTheOpThatLaunchedThemAndStepsAreOnePath) {
  const Trace trace = two_steps();
  const ByPath found = paths_of(flame_tree(trace));
  const std::string mm = ";thread 1;ProfilerStep# annotation;aten::mm cpu_op";
  EXPECT_EQ(found.at(mm), (Figures{80'000, 0, 2}));
  EXPECT_EQ(found.at(mm + ";cudaLaunchKernel runtime_call;sgemm kernel"), (Figures{0, 120'000, 2}));
  EXPECT_EQ(found.at(";GPU work without a launch;memset fill"), (Figures{0, 15'000, 1}));
}

TEST(Flame, WhatIsTooDeepOrTooSmallCountsAsItsParentsOwn) {
  const Trace trace = two_steps();
  const ByPath found = paths_of(flame_tree(trace, {.min_duration_ns = 20'000, .max_depth = 2}));
  EXPECT_EQ(found.at(";thread 1;ProfilerStep# annotation;aten::mm cpu_op"),
            (Figures{100'000, 120'000, 6}));
  EXPECT_EQ(found.at(";GPU work without a launch"), (Figures{0, 15'000, 1}));
}

TEST(Flame, SmallKernelsOfOneParentAreOneNodeWhereAskedFor) {
  Made made;
  made.span(kThread, 1, "cudaGraphLaunch", SpanKind::runtime_call, 0, 50, 5);
  made.span(kStream, 7, "add", SpanKind::kernel, 60, 4, 5);
  made.span(kStream, 7, "mul", SpanKind::kernel, 70, 9, 5);
  made.span(kStream, 7, "gemm", SpanKind::kernel, 80, 90, 5);
  const Trace trace = made.trace();
  FlameOptions options = kEverything;
  options.group_small_kernels = true;
  const std::string launch = ";thread 1;cudaGraphLaunch runtime_call";
  const ByPath found = paths_of(flame_tree(trace, options));
  EXPECT_EQ(found.at(launch + ";small kernels kernel"), (Figures{0, 13'000, 2}));
  EXPECT_EQ(found.at(launch + ";gemm kernel"), (Figures{0, 90'000, 1}));
  EXPECT_EQ(found.size(), 4U);
}

TEST(Flame, OfAnEmptyTraceIsTheWholeAlone) {
  EXPECT_EQ(flame_tree(Made().trace()).nodes.size(), 1U);
}

}  // namespace fathom::analyze::flame_test
