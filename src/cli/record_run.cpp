#include "cli/record_run.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstring>

#include "base/printable.h"
#include "cli/command_line.h"
#include "profiler/leftovers.h"
#include "record/launch/passed_signals.h"
#include "record/launch/run_trace.h"

namespace fathom::cli {

namespace {

// A part that cannot be completed is what it was.
void complete_part(const std::string& live, const std::string& part) {
  say_of_run([&] { detail::add_leftovers(live, part); });
}

}  // namespace

RecordedRun record_run(const std::vector<std::string>& command, record::Injection what,
                       double memory_interval_ms, const RunOutput& output, Files& files) {
  for (const std::string& word : command) files.will_read(word);  // a program, its script, its data
  files.expect_no_input(output.name);
  RecordedRun run;
  run.parts = std::make_unique<record::RunParts>(output.name, output.force);
  what.run_file = run.parts->pattern();
  what.live_folder = run.parts->live_folder();
  const auto interval =
      std::chrono::microseconds(static_cast<std::int64_t>(memory_interval_ms * 1000));
  const record::PassedSignals signals;  // until the run is written
  const record::Launched launched =
      record::launch(command, record::environment_for(what), interval, signals,
                     what.python ? run.parts->own_part("python") : std::string());
  run.ended = launched.ended;
  run.python = launched.python;
  say_of_run([&] {
    const record::JoinedRun joined =
        run.parts->join(record::run_trace(command, launched), complete_part);
    run.readable = run.parts->readable();
    for (const std::string& part : joined.still_going) {
      base::say(stderr, fmt::format("fathom: {}: a child process is still writing to this file\n",
                                    base::printable(part)));
    }
  });
  return run;
}

void expect_no_standard_output(const std::string& run, const std::string& json) {
  if (run != kStandard && json != kStandard) return;
  throw BadUsage(fmt::format("{} -: standard output is the program's. Name a file",
                             run == kStandard ? "-o" : "--json"));
}

void say_of_run(const std::function<void()>& say) noexcept {
  try {
    say();
  } catch (const std::exception& error) {
    base::say(stderr, "fathom: " + base::printable(error.what()) + "\n");
  }
}

void say_how_it_ended(const RecordedRun& run) {
  const record::Ended& ended = run.ended;
  if (ended.signal != 0) {
    // What had not been written is found in memory, where there is such memory.
    const bool is_all_there = run.parts != nullptr && !run.parts->live_folder().empty();
    base::say(stderr,
              fmt::format("fathom: the program was killed by signal {} ({}). The recording covers "
                          "it until {}.\n",
                          ended.signal, strsignal(ended.signal),
                          is_all_there ? "then" : "shortly before"));
  } else if (ended.exit_status != 0) {
    base::say(stderr, fmt::format("fathom: the program ended with status {}\n", ended.exit_status));
  }
}

}  // namespace fathom::cli
