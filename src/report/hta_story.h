#pragma once

#include <string>
#include <vector>

#include "report/gpu_story.h"
#include "report/hta_report.h"

// The story of a holistic analysis, in sentences; the terminal and the page tell the same.
namespace fathom::report {

// How much the GPUs computed, and the largest loss (gpu_story.h).
std::string hta_story(const HtaReport& report);

// The GPUs of all ranks, in the order of the report; those without work are left out.
std::vector<GpuOfRun> gpus_of(const HtaReport& report);

}  // namespace fathom::report
