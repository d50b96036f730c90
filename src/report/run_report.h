#pragma once

#include <string>
#include <vector>

#include "explain/analysis.h"
#include "report/kernel_rows.h"

namespace fathom::base {
class JsonWriter;
}

namespace fathom::report {

// What `fathom report` says about one trace: facts of an Analysis, which must outlive it.
struct RunReport {
  const std::string& source;  // the file's name
  const analyze::Activity& activity;
  const std::vector<analyze::Operation>& operations;  // most self time first
  const std::vector<analyze::RankedOperation>& bottlenecks;
  const std::vector<double>& scope_shares;  // of the operations that the recorder counted
  const std::vector<trace::SpanId>& steps;
  const std::vector<analyze::ClassTime>& classes;  // of GPU work
  const analyze::RunShares& shares;                // of the run, by GPU
  const analyze::Efficiency& efficiency;           // of all GPUs together
  const std::vector<analyze::Efficiency>& by_gpu;  // of each, as `shares` has them
  const advise::Suggestions& suggestions;
  ProfileSession session;  // with recommendations
};

RunReport make_report(const explain::Analysis& analysis);

// The GPUs that did work, in words ("2 × A100 80 GB"); a host lists others too, and some sources
// number the two differently. Empty where they have no name.
std::string device_text(const RunReport& report, const trace::Trace& trace);

// Tables hold `top` rows each and fit `width` columns.
std::string to_text(const RunReport& report, const trace::Trace& trace, std::size_t top,
                    std::size_t width, KernelRows kernels = KernelRows::by_name);

// Every operation, whatever --top says. docs/report.schema.json describes it.
std::string to_json(const RunReport& report, const trace::Trace& trace);

// The session alone. docs/session.schema.json describes it.
std::string to_json(const ProfileSession& session);
void write_session(base::JsonWriter& json, const ProfileSession& session);

}  // namespace fathom::report
