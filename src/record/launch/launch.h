#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/launch/passed_signals.h"
#include "record/python/python_outcome.h"

namespace fathom::record {

// Environment variables for the child, name and value.
using Environment = std::vector<std::pair<std::string, std::string>>;

// How a program that was started ended, and what it used.
struct Ended {
  int exit_status = 0;  // meaningful where signal is 0
  int signal = 0;       // that killed it, or 0
  std::int64_t begin_unix_ns = 0;
  std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC_RAW
  std::int64_t end_ns = 0;
  std::int64_t cpu_ns = 0;  // user and system, of it and of the children it waited for
};

// The command could not be started. The status is the one a shell gives: 127 where there is no such
// program, 126 where it is there and cannot be run.
struct CannotRun : base::Error {
  CannotRun(const std::string& command, int reason);
  int exit_status;
};

// Host memory of a program and all its descendants, at one time.
struct RssSample {
  std::int64_t time_ns = 0;  // CLOCK_MONOTONIC_RAW
  std::int64_t bytes = 0;
};

struct Launched {
  Ended ended;
  std::vector<RssSample> rss;  // the first right at the start
  // The most that any one of its processes had, as the kernel counted it: what lies between two
  // samples too. A child begins with the count of who started it, so a figure that the launcher
  // itself had reached says nothing, and is absent.
  std::optional<std::int64_t> kernel_peak_rss;
  std::optional<PythonOutcome> python;  // where it was to be sampled
};

// Runs a command to its end with these additions to the environment, and samples its memory
// meanwhile, and its Python functions where `python_part` names a part of the run for them.
// Standard streams are the child's own, and signals are passed on to it. Throws CannotRun.
Launched launch(const std::vector<std::string>& command, const Environment& environment,
                std::chrono::microseconds memory_interval, const PassedSignals& signals = {},
                const std::string& python_part = {});

// Where a standard stream is closed, none of our files may take its number: what is said would go
// into it. The program finds it closed as it was.
void hold_standard_descriptors();

// Ends the calling process as the child ended: with its exit status, or by the same signal.
[[noreturn]] void end_like(const Ended& ended);

}  // namespace fathom::record
