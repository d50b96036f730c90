#include "report/page/compile.h"

#include "report/page/page.h"
#include "report/page/tab_summary.h"

namespace fathom::report {

std::string compile_page(const CompileReport& report) {
  return page_html({{"summary", tab_summary("compile", report.source, compile_story(report))},
                    {"compile", to_json(report)}},
                   "compile");
}

}  // namespace fathom::report
