#pragma once

#include "cli/command_line.h"

// Each command: its options, and what it does when it is chosen. One file per command.
namespace fathom::cli {

Command profile_command();
Command memory_command();
Command report_command();
Command open_command();
Command flame_command();
Command timeline_command();
Command hta_command();
Command compare_command();
Command suggest_command();
Command compile_command();
Command tune_command();
Command route_command();
Command convert_command();
Command devices_command();
Command monitor_command();
Command serve_command();
Command token_command();
Command audit_command();
Command completion_command(const Program& program);  // which must outlive it

}  // namespace fathom::cli
