#include "report/page/tab_summary.h"

#include "base/json_writer.h"
#include "report/page/sections.h"

namespace fathom::report {

std::string tab_summary(std::string_view tab, const std::string& source, const std::string& story) {
  std::string out;
  base::JsonWriter json(out);
  json.begin_object().key("fathom").value(FATHOM_VERSION).key("tabs").begin_array();
  json.value(tab).end_array().key("run").begin_object().key("source");
  json.value(source).key("name").value(source);
  json.key("format").null().key("command").null().key("rank").null().key("world_size").null();
  json.key("duration_ns").null().key("spans").value(0).key("threads").value(0);
  json.key("gpu_streams").value(0).key("devices").begin_array().end_array().end_object();
  write_story(json, {story, "", {}, "", 0, {}});
  json.key("slices").null();
  for (const char* list : {"operations", "scopes", "bottlenecks", "classes", "ranks", "warnings"}) {
    json.key(list).begin_array().end_array();
  }
  json.key("advice").begin_object().key("findings").begin_array().end_array();
  json.key("recommendations").begin_array().end_array().end_object();
  json.key("suggestions").null();
  json.key("memory").null().key("skew").null().end_object();
  return out;
}

}  // namespace fathom::report
