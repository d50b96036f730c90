// What can be asked of the real libcupti without a driver: how it steps through a buffer, and how
// it names calls.
#include <gtest/gtest.h>

#include "record/cuda/cupti_api.h"
#include "record/cuda/record_buffer.h"

namespace fathom::record::cuda::real_cupti_test {

class RealCupti : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string problem;
    const std::optional<CuptiApi> found = load_cupti(problem);
    if (!found) GTEST_SKIP() << problem;
    if (found->version != CUPTI_API_VERSION) GTEST_SKIP() << "its records have other sizes";
    api_ = *found;
  }

  std::vector<GpuActivity> read(RecordBuffer& buffer) {
    std::vector<GpuActivity> activities;
    LaunchLinks links;
    RecordReader reader(test_call_name, links,
                        {[&](const GpuActivity& made) { activities.push_back(made); },
                         [&](const MemoryRecord&) { ++memory_; }});
    read_buffer(buffer.filled(), api_.get_next_record, reader);
    losses_ = reader.losses();
    return activities;
  }

  CuptiApi api_;
  Losses losses_;
  int memory_ = 0;
};

TEST_F(RealCupti, StepsThroughRecordsOfEveryKindAsWeReadThem) {
  NewCopy copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  PeerCopyRecord peer{};
  peer.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  FillRecord fill{};
  fill.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  NewSync sync{};
  sync.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  NewOverhead overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  NewGraph graph{};
  graph.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  copy.start = peer.start = fill.start = sync.start = overhead.start = graph.start = 1;
  copy.end = peer.end = fill.end = sync.end = overhead.end = graph.end = 2;
  RecordBuffer buffer;
  buffer.add(scope_record(1, 77)).add(call_record(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 1, 5, 9));
  buffer.add(copy).add(peer).add(fill).add(sync).add(overhead).add(graph);
  buffer.add(memory_record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, 0x10, 64, 1, 3));
  buffer.add(kernel_record("last", 1, 10, 20));
  const std::vector<GpuActivity> activities = read(buffer);
  ASSERT_EQ(activities.size(), 8U);
  EXPECT_EQ(memory_, 1);
  EXPECT_EQ(activities.back().name, "last");
  EXPECT_EQ(activities.back().scope.instance, 77U);
  EXPECT_EQ(losses_, Losses{});
}

TEST_F(RealCupti, StopsBeforeARecordThatIsCutOff) {
  RecordBuffer buffer;
  buffer.add(kernel_record("whole", 1, 10, 20)).add(kernel_record("cut", 2, 20, 30));
  buffer.cut(20);
  EXPECT_EQ(read(buffer).size(), 1U);
  EXPECT_EQ(losses_.cut, 0U);
}

TEST_F(RealCupti, AKindItDoesNotKnowEndsTheBufferAndIsCounted) {
  CUpti_ActivityStream strange{};
  strange.kind = static_cast<CUpti_ActivityKind>(9'999);
  RecordBuffer buffer;
  buffer.add(kernel_record("a", 1, 10, 20)).add(strange);
  EXPECT_EQ(read(buffer).size(), 1U);
  EXPECT_EQ(losses_.unreadable_buffers, 1U);
}

TEST_F(RealCupti, NamesItsCallsAndNoneThatLaunchesOnlyAsks) {
  int launching = 0;
  for (CUpti_CallbackId id = 1; id < 1000; ++id) {
    for (const CUpti_CallbackDomain domain :
         {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
      const char* name = nullptr;
      if (api_.get_callback_name(domain, id, &name) != CUPTI_SUCCESS || name == nullptr) continue;
      const std::string_view call(name);
      const bool enqueues = call.starts_with("cudaLaunch") || call.starts_with("cuLaunch") ||
                            call.starts_with("cudaMemcpy") || call.starts_with("cuMemcpy") ||
                            call.starts_with("cudaMemset") || call.starts_with("cuMemset") ||
                            call.starts_with("cudaMalloc") || call.starts_with("cuMemAlloc") ||
                            call.starts_with("cudaGraphLaunch") ||
                            call.starts_with("cuGraphLaunch");
      launching += enqueues ? 1 : 0;
      EXPECT_FALSE(enqueues && only_asks(call)) << call;
    }
  }
  EXPECT_GT(launching, 100);
}

}  // namespace fathom::record::cuda::real_cupti_test
