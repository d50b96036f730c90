// The built page, as bytes of the program. FATHOM_PAGE_HTML is its path in the build folder.
#include <string_view>

#include "report/page/page.h"

asm(R"(
  .section .rodata
  .global fathom_page_begin
  .global fathom_page_end
fathom_page_begin:
  .incbin ")" FATHOM_PAGE_HTML R"("
fathom_page_end:
  .previous
)");

extern "C" {
extern const char fathom_page_begin[];
extern const char fathom_page_end[];
}

namespace fathom::report {

std::string_view page_template() {
  return {fathom_page_begin, static_cast<std::size_t>(fathom_page_end - fathom_page_begin)};
}

}  // namespace fathom::report
