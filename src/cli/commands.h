#pragma once

namespace CLI {
class App;
}

// Each command adds itself to the command line and runs when it is chosen. One file a command.
namespace fathom::cli {

void add_profile(CLI::App& app);
void add_memory(CLI::App& app);
void add_report(CLI::App& app);
void add_flame(CLI::App& app);
void add_timeline(CLI::App& app);
void add_hta(CLI::App& app);
void add_compare(CLI::App& app);
void add_suggest(CLI::App& app);
void add_convert(CLI::App& app);
void add_completion(CLI::App& app);

}  // namespace fathom::cli
