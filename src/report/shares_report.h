#pragma once

#include "analyze/run/gpu_shares.h"

namespace fathom::base {
class JsonWriter;
}

namespace fathom::report {

// Members of an object that is open: the run, and what one GPU did in it. docs/hta.schema.json and
// docs/report.schema.json have both.
void write_wall(base::JsonWriter& json, const analyze::RunShares& run);
void write_shares(base::JsonWriter& json, const analyze::GpuShares& gpu);

}  // namespace fathom::report
