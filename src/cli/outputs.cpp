#include "cli/outputs.h"

#include <CLI/CLI.hpp>

#include <utility>

#include "base/error.h"
#include "cli/inputs.h"

namespace fathom::cli {

CLI::Option* add_json(CLI::App& command, Outputs& outputs, CLI::Option* input,
                      const std::string& what) {
  const auto take = [&outputs, input](const std::string& word) {
    outputs.wants_json = true;
    if (word.empty() || input->count() > 0) {
      outputs.json = word;
    } else {  // `--json trace.json.gz --top 3`
      input->add_result(word);
      input->run_callback();
    }
  };
  return command
      .add_option_function<std::string>("--json", take, what + "; to a file if one is named")
      ->type_name("[FILE]")
      ->expected(0, 1);
}

void settle(Outputs& outputs) {
  if (outputs.page.ends_with(".json")) {
    if (!outputs.wants_json || !outputs.json.empty()) {
      throw base::Error(outputs.page, "-o writes the page, which is HTML",
                        "For JSON: --json " + outputs.page);
    }
    outputs.json = std::exchange(outputs.page, {});
  }
  will_write(outputs.json);
  will_write(outputs.page);
}

}  // namespace fathom::cli
