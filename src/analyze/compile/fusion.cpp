#include "analyze/compile/fusion.h"

#include <algorithm>
#include <array>
#include <string>

namespace fathom::analyze {
namespace {

template <typename Each>
void for_each_line(std::string_view text, Each each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::size_t indentation(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool is_part_of_name(char c) {
  return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

// A dotted name that is called: "triton_poi_fused_0.run", "extern_kernels.mm".
bool is_kernel_call(std::string_view name) {
  constexpr std::array<std::string_view, 4> kBegin = {"extern_kernels.", "torch.ops.", "aten.",
                                                      "cpp_fused_"};
  return name.ends_with(".run") || std::ranges::any_of(kBegin, [&](std::string_view begin) {
           return name.starts_with(begin);
         });
}

bool calls_a_kernel(std::string_view line) {
  for (std::size_t at = line.find('('); at != std::string_view::npos; at = line.find('(', at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && is_part_of_name(line[begin - 1])) --begin;
    if (is_kernel_call(line.substr(begin, at - begin))) return true;
  }
  return false;
}

}  // namespace

std::uint64_t graph_operations(std::string_view graph) {
  std::uint64_t count = 0;
  for_each_line(graph, [&](std::string_view line) {
    count += line.find("= torch.ops.") != std::string_view::npos ? 1U : 0U;
  });
  return count;
}

std::uint64_t generated_calls(std::string_view code) {
  std::uint64_t count = 0;
  bool is_inside = false;
  std::size_t outer = 0;  // how far in the function itself is
  for_each_line(code, [&](std::string_view line) {
    const std::size_t in = indentation(line);
    const std::string_view text = line.substr(in);
    if (text.empty() || text.starts_with('#')) return;
    if (text.starts_with("def ")) {
      is_inside = text.starts_with("def call(");
      outer = in;
    } else if (is_inside && in <= outer) {
      is_inside = false;
    } else if (is_inside && calls_a_kernel(text)) {
      ++count;
    }
  });
  return count;
}

}  // namespace fathom::analyze
