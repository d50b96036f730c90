#include "trace/builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/sort_runs.h"

namespace fathom::trace::builder_test {

TEST(SortRuns, SortsAndKeepsTheOrderOfEquals) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::pair<int, int>> items;
    const int count = static_cast<int>(random() % 60);
    const auto range = 1 + random() % 40;
    for (int i = 0; i < count; ++i) items.emplace_back(static_cast<int>(random() % range), i);
    if (round % 3 == 0) std::sort(items.begin(), items.begin() + count / 2);
    std::vector<std::pair<int, int>> expected = items;
    const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::stable_sort(expected.begin(), expected.end(), before);
    base::sort_runs(std::span(items), before);
    ASSERT_EQ(items, expected);
  }
}

// The innermost span of the same track that contains the span and comes before it, by looking at
// all.
SpanId parent_by_search(const Trace& trace, SpanId id) {
  const Spans& spans = trace.spans;
  for (SpanId other = id; other-- > 0;) {
    if (spans.track[other] == spans.track[id] && spans.end_ns(other) >= spans.end_ns(id)) {
      return other;
    }
  }
  return kNoSpan;
}

TEST(Assemble, SortsSpansAndFindsParentsWhateverTheParts) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    std::vector<TracePart> parts(1 + random() % 3);
    std::uint64_t source = 0;
    for (TracePart& part : parts) {
      part.batches.resize(random() % 3);
      for (int i = 0; i < 40; ++i) {
        Rows& rows = part.batches.empty() ? part : part.batches[random() % part.batches.size()];
        SpanRow row;
        row.start_ns = random() % 30;
        row.duration_ns = random() % 20;
        row.source = source++;
        row.track = part.track(TrackKind::thread, 1, random() % 3);
        row.name = part.names.intern(std::to_string(row.source));
        if (random() % 4 == 0) {
          rows.bytes.push_back(
              {static_cast<SpanId>(rows.spans.size()), static_cast<std::int64_t>(row.source)});
        }
        rows.spans.push_back(row);
      }
    }
    const Trace trace = assemble(std::move(parts), {}, static_cast<unsigned>(1 + random() % 3));
    ASSERT_EQ(trace.spans.size(), source);
    for (SpanId id = 0; id < trace.spans.size(); ++id) {
      const auto key = [&](SpanId i) {
        return std::tuple(trace.spans.track[i], trace.spans.start_ns[i],
                          -trace.spans.duration_ns[i], trace.spans.source[i]);
      };
      if (id > 0) {
        ASSERT_LT(key(id - 1), key(id));
      }
      ASSERT_EQ(trace.name(id), std::to_string(trace.spans.source[id]));
      ASSERT_EQ(trace.spans.parent[id], parent_by_search(trace, id));
      const Track& track = trace.tracks[trace.spans.track[id]];
      ASSERT_TRUE(id >= track.first_span && id < track.first_span + track.span_count);
    }
    for (const SpanBytes& item : trace.bytes) {
      ASSERT_EQ(static_cast<std::uint64_t>(item.bytes), trace.spans.source[item.span]);
    }
  }
}

// Three threads' spans in the order they began, more than are placed in one go; every seventh has
// bytes, and numbers of scopes come at the spans' ends.
TracePart rows_in_order() {
  std::mt19937 random(3);
  TracePart part;
  for (SpanId i = 0; i < 300'000; ++i) {
    SpanRow row;
    row.start_ns = i / 2;
    row.duration_ns = 1'000'000 - i;
    row.source = i;
    row.track = part.track(TrackKind::thread, 1, random() % 3);
    if (i % 7 == 0) part.bytes.push_back({i, i});
    part.spans.push_back(row);
  }
  for (SpanId i = 299'997; i > 0; i -= 3) part.scopes.push_back({i, i});
  return part;
}

TEST(Assemble, RowsInOrderArePlacedAsSortedOnesAre) {
  std::vector<TracePart> in_order(1);
  in_order[0] = rows_in_order();
  std::vector<TracePart> mixed(1);
  mixed[0] = rows_in_order();
  TracePart& part = mixed[0];
  std::swap(part.spans.front(), part.spans.back());
  const auto last = static_cast<SpanId>(part.spans.size() - 1);
  const auto follow = [&](auto& items) {
    for (auto& item : items) item.span = item.span == 0 ? last : item.span == last ? 0 : item.span;
  };
  follow(part.bytes);
  follow(part.scopes);

  const Trace a = assemble(std::move(in_order), {}, 2);
  const Trace b = assemble(std::move(mixed), {}, 2);
  EXPECT_EQ(a.spans.start_ns, b.spans.start_ns);
  EXPECT_EQ(a.spans.source, b.spans.source);
  EXPECT_EQ(a.spans.track, b.spans.track);
  EXPECT_EQ(a.spans.parent, b.spans.parent);
  ASSERT_EQ(a.bytes.size(), b.bytes.size());
  for (std::size_t i = 0; i < a.bytes.size(); ++i) {
    ASSERT_EQ(a.bytes[i].span, b.bytes[i].span);
    ASSERT_EQ(a.spans.source[a.bytes[i].span], static_cast<std::uint64_t>(a.bytes[i].bytes));
  }
  ASSERT_EQ(a.scopes.size(), 99'999U);
  ASSERT_EQ(b.scopes.size(), 99'999U);
  for (std::size_t i = 0; i < a.scopes.size(); ++i) {
    ASSERT_EQ(a.scopes[i].span, b.scopes[i].span);
    ASSERT_EQ(a.spans.source[a.scopes[i].span], a.scopes[i].scope);
  }
}

TEST(Assemble, JoinsTracksAndNames) {
  std::vector<TracePart> parts(2);
  for (TracePart& part : parts) {
    SpanRow row;
    row.track = part.track(TrackKind::gpu_stream, 0, 7);
    row.name = part.names.intern("same");
    part.spans.push_back(row);
  }
  parts[1].tracks[0].stream = 7;
  const Trace trace = assemble(std::move(parts), {});
  ASSERT_EQ(trace.tracks.size(), 1U);
  EXPECT_EQ(trace.tracks[0].stream, 7);
  EXPECT_EQ(trace.tracks[0].span_count, 2U);
  EXPECT_EQ(trace.spans.name[0], trace.spans.name[1]);
}

}  // namespace fathom::trace::builder_test
