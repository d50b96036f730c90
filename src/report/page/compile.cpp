#include "report/page/compile.h"

#include <filesystem>

#include "report/page/page.h"
#include "report/page/tab_summary.h"

namespace fathom::report {

std::string compile_page(const CompileReport& report) {
  const std::string name = std::filesystem::path(report.source).filename().string();
  return page_html({{"summary", tab_summary("compile", name, compile_story(report))},
                    {"compile", to_json(report)}},
                   "compile");
}

}  // namespace fathom::report
