#include "report/text/more_rows.h"

#include <fmt/format.h>

#include "base/format.h"

namespace fathom::report {

std::string more_rows(std::size_t all, std::size_t shown) {
  if (all <= shown) return {};
  return fmt::format("  … {} more (--top {})\n", base::format_count(all - shown), all);
}

}  // namespace fathom::report
