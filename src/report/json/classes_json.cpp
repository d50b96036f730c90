#include "report/class_times_report.h"

namespace fathom::report {

void write_classes(base::JsonWriter& json, const std::vector<analyze::ClassTime>& classes) {
  json.key("classes").begin_array();
  for (const analyze::ClassTime& one : classes) {
    json.begin_object().key("class").value(name_of(one.kernel_class));
    json.key("label").value(label_of(one.kernel_class)).key("count").value(one.count);
    json.key("sum_ns").value(one.sum_ns).key("share_pct").value(one.share_pct).end_object();
  }
  json.end_array();
}

}  // namespace fathom::report
