#include "trace/filter.h"

#include <gtest/gtest.h>

#include "trace/random_trace.h"

namespace fathom::trace::filter_test {

TEST(KeepSpans, LeavesTheOthersAsTheyWere) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Trace before = testing::random_trace(seed);
    Trace after = testing::random_trace(seed);
    const auto keep = [&](SpanId id) { return (id * 7 + seed) % 3 != 0; };
    keep_spans(after, keep);
    SpanId at = 0;
    std::vector<SpanId> place(before.spans.size(), kNoSpan);
    for (SpanId id = 0; id < before.spans.size(); ++id) {
      if (!keep(id)) continue;
      ASSERT_LT(at, after.spans.size());
      EXPECT_EQ(after.name(at), before.name(id));
      EXPECT_EQ(after.spans.start_ns[at], before.spans.start_ns[id]);
      EXPECT_EQ(after.spans.duration_ns[at], before.spans.duration_ns[id]);
      EXPECT_EQ(after.spans.correlation[at], before.spans.correlation[id]);
      const Track& track = after.tracks[after.spans.track[at]];
      EXPECT_TRUE(at >= track.first_span && at < track.first_span + track.span_count);
      SpanId up = before.spans.parent[id];
      while (up != kNoSpan && !keep(up)) up = before.spans.parent[up];
      EXPECT_EQ(after.spans.parent[at], up == kNoSpan ? kNoSpan : place[up]);
      place[id] = at++;
    }
    EXPECT_EQ(at, after.spans.size());
    for (const SpanBytes& item : after.bytes) EXPECT_LT(item.span, after.spans.size());
  }
}

}  // namespace fathom::trace::filter_test
