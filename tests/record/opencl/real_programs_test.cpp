// Programs that we did not write, with the number of commands that each is known to enqueue.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "record/opencl/recorded.h"
#include "sanitized.h"

namespace fathom::record::real_programs_test {

using trace::SpanKind;

// Skips the test where the program is not installed.
#define NEED_PROGRAM(path)                                                           \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << (path) << " is not installed"; \
  if (kIsSanitized) GTEST_SKIP() << "a layer built for a sanitizer needs a program that is, too"

trace::Trace the_run(Recorded&& recorded) {
  EXPECT_EQ(recorded.ran.status, 0) << recorded.ran.err;
  EXPECT_EQ(recorded.runs.size(), 1U);
  return recorded.runs.empty() ? trace::Trace() : std::move(recorded.runs[0]);
}

TEST(RealPrograms, ClpeakKernelLatency) {
  NEED_PROGRAM("/usr/bin/clpeak");
  const trace::Trace run = the_run(run_recorded({"/usr/bin/clpeak", "--kernel-latency"}));
  EXPECT_EQ(count_of(run, SpanKind::kernel), 20'002U);
  EXPECT_EQ(count_of(run, SpanKind::copy), 0U);
}

TEST(RealPrograms, FfmpegFilters) {
  NEED_PROGRAM("/usr/bin/ffmpeg");
  const trace::Trace run = the_run(run_recorded(
      {"/usr/bin/ffmpeg", "-init_hw_device", "opencl=ocl:0.0", "-filter_hw_device", "ocl", "-f",
       "lavfi", "-i", "testsrc=size=640x360:rate=25:duration=2", "-vf",
       "format=yuv420p,hwupload,avgblur_opencl=sizeX=5,unsharp_opencl,hwdownload,format=yuv420p",
       "-f", "null", "-"}));
  EXPECT_EQ(count_of(run, SpanKind::kernel), 450U);
  EXPECT_EQ(items_of(run, SpanKind::copy, "ReadImage").size(), 150U);
  EXPECT_EQ(items_of(run, SpanKind::copy, "WriteImage").size(), 150U);
}

TEST(RealPrograms, ClfftClient) {
  NEED_PROGRAM("/usr/bin/clFFT-client");
  const trace::Trace run = the_run(
      run_recorded({"/usr/bin/clFFT-client", "-x", "1024", "-y", "64", "-b", "4", "-p", "10"}));
  EXPECT_EQ(count_of(run, SpanKind::kernel), 44U);
  EXPECT_EQ(items_of(run, SpanKind::copy, "WriteBuffer").size(), 3U);
}

TEST(RealPrograms, PyopenclScript) {
  NEED_PROGRAM("/usr/lib/python3/dist-packages/pyopencl");
  const std::string script = FATHOM_SOURCE_DIR "/tests/record/opencl/script.py";
  const Ran alone = fathom::record::run({"/usr/bin/python3", script});
  Recorded recorded = run_recorded({"/usr/bin/python3", script});
  EXPECT_EQ(recorded.ran.out, alone.out);
  const trace::Trace run = the_run(std::move(recorded));
  EXPECT_EQ(items_of(run, SpanKind::kernel, "twice").size(), 7U);
  EXPECT_EQ(items_of(run, SpanKind::copy, "ReadBuffer").size(), 1U);
}

}  // namespace fathom::record::real_programs_test
