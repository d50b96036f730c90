#include "report/page/run_page.h"

#include "report/page/flame.h"
#include "report/page/memory_block.h"
#include "report/page/summary.h"
#include "report/page/timeline.h"

namespace fathom::report {

std::string run_page(const explain::Analysis& analysis, const PageData& others,
                     std::string_view start) {
  PageData data = page_timeline(analysis);
  data.emplace_back("summary", page_summary(analysis));
  data.emplace_back("flame", page_flame(analysis.flame(), analyze::FlameWeight::cpu));
  if (std::string memory = page_memory(analysis); !memory.empty()) {
    data.emplace_back("memory", std::move(memory));
  }
  data.insert(data.end(), others.begin(), others.end());
  return page_html(data, start);
}

}  // namespace fathom::report
