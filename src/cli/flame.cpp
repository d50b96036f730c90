#include <memory>

#include "analyze/flame/flame.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "explain/analysis.h"
#include "report/flame_report.h"
#include "report/page/flame.h"
#include "report/page/page.h"
#include "report/page/summary.h"

namespace fathom::cli {
namespace {

using analyze::FlameWeight;

constexpr const char* kFlameNotes = R"(
Examples:
  fathom flame trace.json.gz                              the heaviest paths, as text
  fathom flame trace.json.gz --weight gpu                 by what the GPU did for them
  fathom flame trace.json.gz -o flame.html                a page to search and zoom
  fathom flame trace.json.gz --speedscope -o flame.json   for speedscope.app
  fathom flame trace.json.gz --folded | flamegraph.pl > flame.svg)";

struct FlameCommandOptions {
  std::string file;
  Outputs outputs;
  bool folded = false;
  bool speedscope = false;
  std::string weight_name = "cpu";
  FlameWeight weight = FlameWeight::cpu;
  double min_duration_us = 10;
  std::size_t max_depth = analyze::FlameOptions().max_depth;
  analyze::FlameOptions flame;
};

Ending run(FlameCommandOptions options, Files& files) {
  Outputs& outputs = options.outputs;
  const bool is_for_others = options.folded || options.speedscope;  // then that is what -o names
  if (is_for_others) {
    if (outputs.page == kStandard) outputs.page.clear();
    expect_new(outputs.page, "Remove it, or name another file", files);
  } else {
    resolve(outputs, files);
  }
  const trace::Trace trace = files.load(options.file);
  if (options.weight_name == "gpu") options.weight = FlameWeight::gpu;
  if (options.weight_name == "count") options.weight = FlameWeight::count;
  options.flame.min_duration_ns = static_cast<std::int64_t>(options.min_duration_us * 1e3);
  options.flame.max_depth = static_cast<std::uint32_t>(options.max_depth);
  const analyze::FlameTree tree = analyze::flame_tree(trace, options.flame);
  if (options.folded) {
    write_text(report::to_folded(tree, options.weight), outputs.page, files);
    return {};
  }
  if (options.speedscope) {
    write_text(report::to_speedscope(tree, options.weight, options.file), outputs.page, files);
    return {};
  }
  if (outputs.wants_json) write_json(report::to_json(tree, options.weight), outputs.json, files);
  if (outputs.page.empty()) {
    if (!outputs.wants_text()) return {};
    write_text(report::to_text(tree, options.weight, base::terminal_width(stdout)), {}, files);
    return {};
  }
  const explain::Analysis analysis(trace, options.file);
  write_page(report::page_html({{"summary", report::page_summary(analysis)},
                                {"flame", report::page_flame(tree, options.weight)}},
                               "flame"),
             outputs.page, files);
  return {};
}

}  // namespace

Command flame_command() {
  auto options = std::make_shared<FlameCommandOptions>();
  Command command = {"flame", "Call paths by time: host operations down to kernels", kFlameNotes};
  command.positional("FILE", &options->file, "A trace of any format Fathom reads");
  command.option("-o,--output", &options->outputs.page,
                 "Write the page (or the --folded or --speedscope output) to FILE");
  command.json(options->outputs, "The tree, as JSON; to a file if one is named");
  command.option("--folded", &options->folded, "One line per path, for flamegraph.pl");
  command.option("--speedscope", &options->speedscope, "A file for speedscope.app");
  command.only_one_of = {"--json", "--folded", "--speedscope"};
  command.choice("--weight", options->weight_name, {"cpu", "gpu", "count"},
                 "cpu: wall time of calls; gpu: time of the work they launched; count: calls");
  command.option("--min-duration-us", &options->min_duration_us,
                 "Merge paths shorter than N µs in total into their parent");
  command.option("--max-depth", &options->max_depth, "Deepest level of calls", {1, 10'000});
  command.option("--group-small-kernels", &options->flame.group_small_kernels,
                 "Group a call's kernels that take less than 10 µs each");
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
