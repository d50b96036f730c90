#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "analyze/memory/memory.h"
#include "analyze/memory/memory_over_time.h"
#include "analyze/memory/memory_roles.h"
#include "trace/builder.h"
#include "trace/corpus.h"
#include "trace/read.h"

namespace fathom::analyze::memory_history_test {

using ::testing::Optional;

using ::testing::ElementsAre;
using trace::MemoryEvent;
using trace::Trace;
using trace::TracePart;

// A training step as an allocator's history has it. Times and bytes:
//   before     weights 100 at 0x1000, older optimizer state 40 at 0x2000
//   10–14      forward: activation 30, temporary 5 (freed at 12)
//   20–28      backward: temporary 7 (freed at 23), gradient 100; the activation is freed at 25
//   30–40      optimizer step: the older state is freed, new state 40 and a temporary 9
class Step {
 public:
  Step() {
    part_.track(trace::TrackKind::thread, 0, 0);
    part_.allocator.stacks.resize(2);
    part_.allocator.stacks[1].is_backward = true;
    part_.allocator.older = {{0x1000, 100, 0, 0, 0}, {0x2000, 40, 0, 0, 0}};
    trace::SpanRow step;
    step.name = part_.names.intern("Optimizer.step#SGD.step");
    step.kind = trace::SpanKind::annotation;
    step.start_ns = 30;
    step.duration_ns = 10;
    part_.spans.push_back(step);
    event(10, 30, 0x3000, "model.py:1 forward");
    event(11, 5, 0x4000, "model.py:2 forward");
    event(12, -5, 0x4000);
    event(20, 7, 0x4000, "", 1);
    event(22, 100, 0x5000, "", 1);
    event(23, -7, 0x4000);
    event(25, -30, 0x3000);
    event(31, 40, 0x6000, "sgd.py:1 step");
    event(32, 9, 0x4000, "sgd.py:2 step");
    event(33, -40, 0x2000);
    event(34, -9, 0x4000);
  }

  Step& segment(std::uint64_t address, std::int64_t bytes, std::int64_t begin = INT64_MIN) {
    part_.allocator.segments.push_back({address, bytes, begin, INT64_MAX, 0});
    return *this;
  }

  Trace make() {
    std::vector<TracePart> parts;
    parts.push_back(std::move(part_));
    return assemble(std::move(parts), {});
  }

 private:
  void event(std::int64_t time, std::int64_t bytes, std::uint64_t address, const char* site = "",
             trace::StackId stack = 0) {
    MemoryEvent row;
    row.time_ns = time;
    row.bytes = bytes;
    row.address = address;
    row.total_allocated = allocated_ += bytes;
    row.site = *site == '\0' ? 0 : part_.names.intern(site);
    row.stack = stack;
    row.device = trace::MemoryDevice::gpu;
    row.device_index = 0;
    part_.memory.push_back(row);
  }

  TracePart part_;
  std::int64_t allocated_ = 140;
};

std::map<std::string, std::int64_t> by_role(const std::vector<RoleUse>& uses) {
  std::map<std::string, std::int64_t> found;
  for (const RoleUse& use : uses) found[std::string(role_name(use.role))] = use.bytes;
  return found;
}

TEST(MemoryHistory, OlderBlocksAreInTheLevelsAndLeftAtTheEnd) {
  const DeviceMemory found = memory(Step().make()).devices.at(0);
  EXPECT_EQ(found.levels.front().allocated, 140);
  EXPECT_EQ(found.peak_bytes(), 289);  // in the optimizer step: 100 + 40 + 100 + 40 + 9
  EXPECT_EQ(found.unknown_at_peak, 140);
  EXPECT_EQ(found.levels.back().allocated, 240);
  EXPECT_EQ(found.unknown_frees, 1U);
  EXPECT_EQ(found.unknown_at_end, 100);
}

TEST(MemoryHistory, RolesAreToldByWhenMemoryComesAndGoes) {
  const Trace trace = Step().make();
  const DeviceMemory found = memory(trace).devices.at(0);
  const std::vector<MemoryRole> roles = memory_roles(trace, found);
  using enum MemoryRole;
  EXPECT_THAT(roles, ElementsAre(weights, optimizer, activations, temporary, temporary, gradients,
                                 optimizer, temporary));
  EXPECT_EQ(by_role(found.roles_at_peak),
            (std::map<std::string, std::int64_t>{
                {"weights", 100}, {"gradients", 100}, {"optimizer state", 80}, {"temporary", 9}}));
}

TEST(MemoryHistory, WithoutTrainingOrOlderBlocksThereAreNoRoles) {
  TracePart part;
  part.track(trace::TrackKind::thread, 0, 0);
  MemoryEvent event;
  event.bytes = 5;
  event.address = 1;
  part.memory = {event};
  std::vector<TracePart> parts;
  parts.push_back(std::move(part));
  const Trace trace = assemble(std::move(parts), {});
  EXPECT_TRUE(memory(trace).devices.at(0).roles_at_peak.empty());
}

TEST(MemoryHistory, ReservedMemoryIsBlocksHolesAndFreeSegments) {
  Step step;
  step.segment(0x1000, 0x200).segment(0x2000, 64).segment(0x3000, 64).segment(0x4000, 16);
  step.segment(0x5000, 100).segment(0x6000, 50, 31);
  const DeviceMemory found = memory(step.make()).devices.at(0);
  ASSERT_TRUE(found.unused_at_peak && found.unused_at_end);
  EXPECT_EQ(found.unused_at_peak->reserved, 512 + 64 + 64 + 16 + 100 + 50);
  EXPECT_EQ(found.unused_at_peak->free_segments, 1U);  // that of the activation
  EXPECT_EQ(found.unused_at_peak->free_segment_bytes, 64);
  EXPECT_EQ(found.unused_at_peak->hole_bytes, (512 - 100) + (64 - 40) + (16 - 9) + 0 + (50 - 40));
  EXPECT_EQ(found.unused_at_peak->largest_free_bytes, 512 - 100);
  EXPECT_EQ(found.unused_at_end->free_segments, 3U);
  EXPECT_EQ(found.unused_at_end->free_segment_bytes, 64 + 64 + 16);
  EXPECT_EQ(found.unused_at_end->hole_bytes, 412 + 10);
  ASSERT_TRUE(found.fragmentation);
  EXPECT_EQ(found.fragmentation->free_bytes, 64 + 412 + 24 + 7 + 10);
}

// Whatever the moment: the owners, the others and what is older are the level; and so are the
// blocks that are alive then.
TEST(MemoryHistory, OwnersAddUpToTheLevelAtEveryMoment) {
  const Trace trace = Step().make();
  const Memory found = memory(trace);
  const DeviceMemory& device = found.devices.at(0);
  const MemoryOverTime over = memory_over_time(trace, found, device);
  EXPECT_TRUE(std::ranges::find(over.moments, device.peak) != over.moments.end());
  for (std::size_t at = 0; at < over.moments.size(); ++at) {
    const MemoryLevel& level = device.levels[over.moments[at]];
    std::int64_t owned = over.of_others[at] + over.older[at];
    for (const auto& bytes : over.of_owners) owned += bytes[at];
    EXPECT_EQ(owned, level.allocated) << at;
    std::int64_t roles = 0;
    for (const auto& role : over.of_roles) roles += role.bytes[at];
    EXPECT_EQ(roles, level.allocated) << at;
    std::int64_t alive = 0;
    for (const MemoryOverTime::Block& block : over.blocks) {
      const bool is_alive = block.from <= at && at < block.to.value_or(SIZE_MAX);
      if (is_alive) alive += block.bytes;
    }
    EXPECT_EQ(alive, level.allocated) << at;
  }
}

struct Known {
  std::string file;
  double older_gb, peak_gb;
  std::map<std::string, double> lines_gb;  // at the peak
};

// What Python says of the same files, in 10⁹ bytes.
TEST(MemoryHistory, CorpusIsAsPythonCountsIt) {
  const std::vector<Known> all = {
      {"expert/medium_512_training_memory_snapshot.pickle",
       5.104,
       12.435,
       {{"model.py:39 forward", 2.180}, {"model.py:434 scaled_dot_product_attention", 0.906}}},
      {"snapshots/medium_1024_training_memory_snapshot.pickle",
       5.100,
       24.210,
       {{"nn_utils.py:6 softmax", 6.442}, {"model.py:39 forward", 3.393}}},
  };
  for (const Known& known : all) {
    const std::optional<std::string> path = trace::corpus_file(known.file);
    if (!path) GTEST_SKIP() << "no corpus";
    const Trace trace = trace::read_trace(*path);
    const DeviceMemory found = memory(trace).devices.at(0);
    EXPECT_NEAR(static_cast<double>(found.levels.front().allocated) / 1e9, known.older_gb, 0.02);
    EXPECT_NEAR(static_cast<double>(found.peak_bytes()) / 1e9, known.peak_gb, 0.02);
    std::map<std::string, double> lines;
    for (const MemoryUse& use : found.at_peak)
      lines[use.call] += static_cast<double>(use.bytes) / 1e9;
    for (const auto& [line, gb] : known.lines_gb) EXPECT_NEAR(lines[line], gb, 0.001) << line;
    EXPECT_GT(by_role(found.roles_at_peak)["optimizer state"], 3'300'000'000);
    EXPECT_NEAR(static_cast<double>(by_role(found.roles_at_peak)["weights"]) / 1e9, 1.7, 0.05);
  }
  const std::optional<std::string> path =
      trace::corpus_file("snapshots/medium_1024_training_memory_snapshot.pickle");
  if (!path) GTEST_SKIP() << "no corpus";
  const DeviceMemory found = memory(trace::read_trace(*path)).devices.at(0);
  ASSERT_TRUE(found.unused_at_end);
  EXPECT_NEAR(static_cast<double>(found.unused_at_end->free_segment_bytes) / 1e9, 11.58, 0.02);
  EXPECT_NEAR(static_cast<double>(found.unused_at_end->hole_bytes) / 1e9, 6.72, 0.02);
  EXPECT_NEAR(static_cast<double>(found.unknown_at_end) / 1e9, 1.72, 0.05);
}

// A trace with totals and no segments, as Kineto writes it.
TEST(MemoryOverTime, HasWhatIsReservedAndNotAllocatedWhereNoSegmentTells) {
  TracePart part;
  part.track(trace::TrackKind::thread, 0, 0);
  for (const std::int64_t at : {10, 20}) {
    MemoryEvent row;
    row.time_ns = at;
    row.bytes = at == 10 ? 60 : -60;
    row.address = 0x1000;
    row.total_allocated = at == 10 ? 60 : 0;
    if (at == 20) row.total_reserved = 100;
    row.device = trace::MemoryDevice::gpu;
    row.device_index = 0;
    part.memory.push_back(row);
  }
  std::vector<TracePart> parts;
  parts.push_back(std::move(part));
  const Trace trace = assemble(std::move(parts), {});
  const Memory memory = analyze::memory(trace);
  const MemoryOverTime over = memory_over_time(trace, memory, memory.devices.at(0));
  EXPECT_FALSE(over.unused);
  EXPECT_THAT(over.spare, ElementsAre(std::nullopt, std::nullopt, Optional(100)));
}

}  // namespace fathom::analyze::memory_history_test
