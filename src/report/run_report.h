#pragma once

#include <string>
#include <vector>

#include "advise/suggestion.h"
#include "analyze/operations/operations.h"
#include "analyze/run/activity.h"
#include "fathom/session.h"
#include "trace/trace.h"

namespace fathom::base {
class JsonWriter;
}

namespace fathom::report {

// What `fathom report` says about one trace.
struct RunReport {
  std::string source;  // the file's name
  analyze::Activity activity;
  std::vector<analyze::Operation> operations;  // most self time first
  std::vector<analyze::Bottleneck> bottlenecks;
  ProfileSession session;  // of a run that Fathom recorded; of others, its time alone
  advise::Suggestions suggestions;
};

// `trace` must outlive it.
RunReport make_report(const trace::Trace& trace, std::string source);

// The GPUs that did work, in words ("2 × A100 80 GB"); a host lists others too, and some sources
// number the two differently. Empty where they have no name.
std::string device_text(const RunReport& report, const trace::Trace& trace);

// Tables hold `top` rows each and fit `width` columns.
std::string to_text(const RunReport& report, const trace::Trace& trace, std::size_t top,
                    std::size_t width);

// Every operation, whatever --top says. docs/report.schema.json describes it.
std::string to_json(const RunReport& report, const trace::Trace& trace);

// The session alone. docs/session.schema.json describes it.
std::string to_json(const ProfileSession& session);
void write_session(base::JsonWriter& json, const ProfileSession& session);

}  // namespace fathom::report
