#include <CLI/CLI.hpp>
#include <memory>

#include "analyze/flame/flame.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/load.h"
#include "cli/numbers.h"
#include "cli/outputs.h"
#include "cli/put.h"
#include "report/flame_report.h"
#include "report/page/flame.h"
#include "report/page/page.h"
#include "report/page/summary.h"
#include "report/run_report.h"

namespace fathom::cli {
namespace {

using analyze::FlameWeight;

constexpr const char* kExamples = R"(
Examples:
  fathom flame trace.json.gz                              the heaviest paths, here
  fathom flame trace.json.gz --weight gpu                 by what the GPU did for them
  fathom flame trace.json.gz -o flame.html                to look at, search and zoom
  fathom flame trace.json.gz --speedscope -o flame.json   for speedscope.app
  fathom flame trace.json.gz --folded | flamegraph.pl > flame.svg)";

struct Options {
  std::string file;
  Outputs outputs;
  bool folded = false;
  bool speedscope = false;
  std::string weight_name = "cpu";
  FlameWeight weight = FlameWeight::cpu;
  double min_duration_us = 10;
  analyze::FlameOptions flame;
};

void run(Options options) {
  Outputs& outputs = options.outputs;
  const bool is_for_others = options.folded || options.speedscope;  // then that is what -o names
  if (is_for_others) {
    will_write(outputs.page);
  } else {
    settle(outputs);
  }
  const trace::Trace trace = load(options.file);
  if (options.weight_name == "gpu") options.weight = FlameWeight::gpu;
  if (options.weight_name == "count") options.weight = FlameWeight::count;
  options.flame.min_duration_ns = static_cast<std::int64_t>(options.min_duration_us * 1e3);
  const analyze::FlameTree tree = analyze::flame_tree(trace, options.flame);
  if (options.folded) return put(report::to_folded(tree, options.weight), outputs.page);
  if (options.speedscope) {
    return put(report::to_speedscope(tree, options.weight, options.file), outputs.page);
  }
  if (outputs.wants_json) put_json(report::to_json(tree, options.weight), outputs.json);
  if (outputs.page.empty()) {
    if (!outputs.wants_text()) return;
    return put(report::to_text(tree, options.weight, base::terminal_width(stdout)), {});
  }
  const report::RunReport run = report::make_report(trace, options.file);
  put(report::page_html({{"summary", page_summary(run, trace)},
                         {"flame", report::page_flame(tree, options.weight)}},
                        "flame"),
      outputs.page);
}

}  // namespace

void add_flame(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("flame", "Call paths by time: host operations down to kernels");
  CLI::Option* input =
      command->add_option("FILE", options->file, "A trace of any format Fathom reads")->required();
  command->add_option("-o,--output", options->outputs.page,
                      "Write a page to look at; with --folded or --speedscope, that");
  CLI::Option* json = add_json(*command, options->outputs, input, "The tree, as JSON");
  auto* folded =
      command->add_flag("--folded", options->folded, "One line a path, for flamegraph.pl");
  auto* speedscope =
      command->add_flag("--speedscope", options->speedscope, "A file for speedscope.app");
  json->excludes(folded)->excludes(speedscope);
  folded->excludes(speedscope);
  command
      ->add_option("--weight", options->weight_name,
                   "cpu: wall time of calls; gpu: time of the work they launched; count: calls")
      ->check(CLI::IsMember({"cpu", "gpu", "count"}))
      ->capture_default_str();
  command
      ->add_option("--min-duration-us", options->min_duration_us,
                   "Paths that took less in all count as their parent's own")
      ->check(number(0))
      ->capture_default_str();
  command->add_option("--max-depth", options->flame.max_depth, "Calls within calls")
      ->check(whole_number(1, 10'000))
      ->capture_default_str();
  command->add_flag("--group-small-kernels", options->flame.group_small_kernels,
                    "Kernels under 10 µs of one call as one");
  command->footer(kExamples);
  command->callback([options] { run(*options); });
}

}  // namespace fathom::cli
