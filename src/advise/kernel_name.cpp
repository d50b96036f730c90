#include "advise/kernel_name.h"

#include <algorithm>
#include <cctype>

namespace fathom::advise {
namespace {

bool is_part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

std::string_view kernel_base_name(std::string_view kernel) {
  if (kernel.ends_with(".kd")) kernel.remove_suffix(3);  // as ROCm has it
  constexpr std::string_view kNoName = "(anonymous namespace)";
  std::size_t from = 0;  // what is in this namespace may be a template, and not its parameters
  const std::size_t parameters = kernel.find('<');
  const std::size_t last = kernel.substr(0, parameters).rfind(kNoName);
  if (last != kernel.npos) from = last + kNoName.size();
  const std::size_t end = std::min(kernel.find_first_of("<(", from), kernel.size());
  if (end == kernel.size() && kernel.find(' ') != kernel.npos) return kernel;
  std::size_t begin = end;
  while (begin > 0 && is_part_of_name(kernel[begin - 1])) --begin;
  return begin == end ? kernel : kernel.substr(begin, end - begin);
}

bool is_plain_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), is_part_of_name);
}

}  // namespace fathom::advise
