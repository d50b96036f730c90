#include "report/page/timeline.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyze/hta/gpu_work.h"
#include "analyze/random_gpu_trace.h"
#include "report/given_trace.h"
#include "report/page/layout.h"
#include "report/page/links.h"

namespace fathom::report::page_timeline_test {

using trace::SpanId;
using trace::Trace;

TEST(PageLayout, GivesEverySpanAPlaceAndNoTwoOfARowOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const Trace trace = trace::random_gpu_trace(random);
    const PageLayout layout = page_layout(trace);
    ASSERT_EQ(layout.order.size(), trace.spans.size());
    for (SpanId id = 0; id < trace.spans.size(); ++id) {
      EXPECT_EQ(layout.order[layout.place[id]], id);
    }
    for (const PageTrack& track : layout.tracks) {
      for (const PageRow& row : track.rows) {
        for (std::uint32_t at = row.first + 1; at < row.first + row.count; ++at) {
          EXPECT_EQ(trace.spans.track[layout.order[at]], track.track);
          EXPECT_LE(trace.spans.end_ns(layout.order[at - 1]),
                    trace.spans.start_ns[layout.order[at]]);
        }
      }
    }
  }
}

// As web/src/timeline/decode.ts reads it.
class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}

  std::string block() {
    std::size_t length = 0;
    for (int shift = 0; shift < 32; shift += 8) length |= std::size_t{byte()} << shift;
    at_ += length;
    return bytes_.substr(at_ - length, length);
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const unsigned char next = byte();
      value |= std::uint64_t{next & 0x7FU} << shift;
      if (next < 0x80) return value;
    }
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  unsigned char byte() { return static_cast<unsigned char>(bytes_.at(at_++)); }

  std::string bytes_;
  std::size_t at_ = 0;
};

TEST(PageTimeline, CarriesEverySpanAndItsLaunch) {
  std::mt19937 random(8);
  for (int round = 0; round < 300; ++round) {
    const Trace trace = trace::random_gpu_trace(random);
    const PageLayout layout = page_layout(trace);
    Reader blocks(page_timeline(explain::Analysis(trace, "trace.json")).at(0).second);
    const nlohmann::json head = nlohmann::json::parse(blocks.block());
    Reader gaps(blocks.block());
    Reader durations(blocks.block());
    Reader labels(blocks.block());
    Reader launches(blocks.block());
    std::vector<SpanId> launch(trace.spans.size(), trace::kNoSpan);
    for (const auto& work : analyze::gpu_work(trace).rows) launch[work.span] = work.launch;

    std::uint32_t at = 0;
    std::int64_t last_launch = 0;
    for (const auto& track : head["tracks"]) {
      for (const std::uint32_t count : track["rows"]) {
        std::int64_t end = head["begin_ns"];
        for (std::uint32_t i = 0; i < count; ++i, ++at) {
          const SpanId id = layout.order[at];
          const std::int64_t start = end + gaps.signed_number();
          const auto duration = static_cast<std::int64_t>(durations.number());
          EXPECT_EQ(start, trace.spans.start_ns[id]);
          EXPECT_EQ(duration, trace.spans.duration_ns[id]);
          const auto& label = head["labels"].at(labels.number());
          EXPECT_EQ(label[0], trace.name(id));
          EXPECT_EQ(label[1], name_of(trace.spans.kind[id]));
          end = start + duration;
          if (!trace::is_gpu_work(trace.spans.kind[id])) continue;
          if (launches.number() == 0) {
            EXPECT_EQ(launch[id], trace::kNoSpan);
          } else {
            last_launch += launches.signed_number();
            EXPECT_EQ(layout.order.at(static_cast<std::size_t>(last_launch - 1)), launch[id]);
          }
        }
      }
    }
    EXPECT_EQ(at, trace.spans.size());
    EXPECT_TRUE(Reader(blocks.block()).at_end() && blocks.at_end()) << "no links";
    EXPECT_TRUE(gaps.at_end() && durations.at_end() && labels.at_end() && launches.at_end());
  }
}

trace::FlowPoint point(std::uint64_t id, std::int64_t time, trace::FlowPhase phase) {
  return {id, time, 0, 0, phase};
}

TEST(PageLinks, LeadFromTheInnermostSpanOfAPointToThatOfTheNext) {
  using trace::FlowPhase;
  Trace trace = trace_of({{"forward", trace::SpanKind::cpu_op, 0, 100},
                          {"inner", trace::SpanKind::cpu_op, 10, 20},
                          {"beside", trace::SpanKind::cpu_op, 40, 5},
                          {"backward", trace::SpanKind::cpu_op, 200, 50}});
  trace.flows = {
      point(1, 210, FlowPhase::end),   point(1, 15, FlowPhase::begin),
      point(2, 60, FlowPhase::begin),  point(2, 220, FlowPhase::end),
      point(3, 150, FlowPhase::begin), point(3, 230, FlowPhase::end),     // in no span
      point(4, 5, FlowPhase::begin),   point(4, 205, FlowPhase::begin)};  // id used again
  std::vector<std::string> shown;
  for (const PageLink& link : page_links(trace)) {
    shown.push_back(std::string(trace.name(link.from)) + " > " + std::string(trace.name(link.to)));
  }
  EXPECT_EQ(shown, (std::vector<std::string>{"forward > backward", "inner > backward"}));
  EXPECT_EQ(page_links(trace, 1).size(), 1U);
}

}  // namespace fathom::report::page_timeline_test
