#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/files.h"
#include "record/launch/injection.h"
#include "record/launch/launch.h"
#include "record/launch/run_parts.h"

namespace fathom::cli {

constexpr const char* kDefaultRun = "run.pftrace";  // or the next free run-N.pftrace

// A run that was recorded. No other recording takes its file while this lives.
struct RecordedRun {
  record::Ended ended;
  std::unique_ptr<record::RunParts> parts;
  std::string
      readable;  // where it can be read; empty where it could not be written, which was said
  std::optional<record::PythonOutcome> python;  // where it was to be sampled
};

// Where a run goes, and whether what is there may be something else than a run.
struct RunOutput {
  std::string name;
  bool force = false;
};

// One run of a command. `what` says what is put into the program; the file is named here. Throws as
// record::launch does, and where the run cannot be written to what `output` names.
RecordedRun record_run(const std::vector<std::string>& command, record::Injection what,
                       double memory_interval_ms, const RunOutput& output, Files& files);

// Standard output is the recorded program's: neither the run nor its JSON goes there. Throws
// BadUsage.
void expect_no_standard_output(const std::string& run, const std::string& json);

// What is said of a run never stands in for how the program ended, whatever it meets: a full disk,
// a standard error that is closed.
void say_of_run(const std::function<void()>& say) noexcept;

// Says so on standard error where it did not end well.
void say_how_it_ended(const RecordedRun& run);

}  // namespace fathom::cli
