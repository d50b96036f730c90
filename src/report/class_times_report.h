#pragma once

#include <vector>

#include "analyze/classes/class_times.h"
#include "base/json_writer.h"

namespace fathom::report {

// "classes": [{"class", "label", "count", "sum_ns", "share_pct"}], in the object that is open.
void write_classes(base::JsonWriter& json, const std::vector<analyze::ClassTime>& classes);

}  // namespace fathom::report
