#include "report/page/compile.h"

#include <filesystem>

#include "report/page/page.h"
#include "report/page/tab_summary.h"

namespace fathom::report {

std::string compile_page(const CompileReport& report, const PageData& others) {
  const std::string name = std::filesystem::path(report.source).filename().string();
  PageData data = {{"summary", tab_summary("compile", name, compile_story(report))},
                   {"compile", to_json(report)}};
  data.insert(data.end(), others.begin(), others.end());
  return page_html(data, "compile");
}

}  // namespace fathom::report
