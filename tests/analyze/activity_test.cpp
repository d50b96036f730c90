#include "analyze/run/activity.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace fathom::analyze::activity_test {

trace::SpanRow span(trace::TrackId track, std::int64_t start, std::int64_t duration,
                    trace::SpanKind kind) {
  trace::SpanRow row;
  row.track = track;
  row.start_ns = start;
  row.duration_ns = duration;
  row.kind = kind;
  return row;
}

trace::Trace assembled(trace::TracePart part) {
  std::vector<trace::TracePart> parts;
  parts.push_back(std::move(part));
  return assemble(std::move(parts), {});
}

TEST(Activity, StreamsOfOneGpuWorkTogether) {
  trace::TracePart part;
  const auto cpu = part.track(trace::TrackKind::thread, 1, 1);
  const auto first = part.track(trace::TrackKind::gpu_stream, 0, 7);
  const auto second = part.track(trace::TrackKind::gpu_stream, 0, 8);
  part.spans = {
      span(cpu, 0, 1000, trace::SpanKind::cpu_op), span(first, 100, 100, trace::SpanKind::kernel),
      span(second, 150, 100, trace::SpanKind::copy), span(second, 450, 50, trace::SpanKind::fill)};
  const Activity found = activity(assembled(std::move(part)));
  EXPECT_EQ(found.end_ns - found.begin_ns, 1000);
  EXPECT_EQ(found.threads, 1U);
  EXPECT_EQ(found.gpu_streams, 2U);
  EXPECT_EQ(found.gpus, std::vector<std::int64_t>{0});
  EXPECT_EQ(found.gpu_window_ns, 400);
  EXPECT_EQ(found.gpu_busy_ns, 200);
}

TEST(Activity, SeveralGpusAreAveragedOverOneWindow) {
  trace::TracePart part;
  const auto first = part.track(trace::TrackKind::gpu_stream, 0, 7);
  const auto second = part.track(trace::TrackKind::gpu_stream, 1, 7);
  part.spans = {span(first, 0, 100, trace::SpanKind::kernel),
                span(second, 50, 50, trace::SpanKind::kernel)};
  const Activity found = activity(assembled(std::move(part)));
  EXPECT_EQ(found.gpus, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(found.gpu_window_ns, 100);
  EXPECT_EQ(found.gpu_busy_ns, 75);
}

TEST(Activity, WithoutGpuWorkItsFiguresAreAbsent) {
  trace::TracePart part;
  part.spans = {span(part.track(trace::TrackKind::thread, 1, 1), 5, 5, trace::SpanKind::cpu_op)};
  const Activity found = activity(assembled(std::move(part)));
  EXPECT_FALSE(found.gpu_window_ns);
  EXPECT_FALSE(found.gpu_busy_ns);
}

TEST(Activity, AnEmptyTraceIsFine) {
  EXPECT_EQ(activity(assembled({})).end_ns, 0);
}

}  // namespace fathom::analyze::activity_test
