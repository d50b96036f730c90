#pragma once

#include <string>
#include <vector>

#include "cli/files.h"
#include "record/launch/injection.h"
#include "record/launch/launch.h"

namespace fathom::cli {

constexpr const char* kDefaultRun = "run.pftrace";  // or the next free run-N.pftrace

// One run of a command, recorded to `output`. `what` says what is put into the program; the file is
// named here. Throws as record::launch does.
record::Ended record_run(const std::vector<std::string>& command, record::Injection what,
                         double memory_interval_ms, const std::string& output, Files& files);

// Says so on standard error where it did not end well.
void say_how_it_ended(const record::Ended& ended);

}  // namespace fathom::cli
