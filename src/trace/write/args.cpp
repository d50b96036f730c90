#include "trace/write/args.h"

#include <algorithm>

#include "base/json_scan.h"
#include "trace/read/chrome/args.h"

namespace fathom::trace {
namespace {

void keep_last_of_each_key(Args& args) {
  std::stable_sort(args.begin(), args.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto same_key = [](const auto& a, const auto& b) { return a.first == b.first; };
  // Unique keeps the first of equals; seen from behind, that is the last.
  const auto kept = std::unique(args.rbegin(), args.rend(), same_key);
  args.erase(args.begin(), kept.base());
}

bool has_twins(const Args& args) {
  if (args.size() > 64) return true;  // rather sort than compare each with each
  for (std::size_t i = 1; i < args.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (args[i].first == args[j].first) return true;
    }
  }
  return false;
}

}  // namespace

Args split_args(std::string_view json) {
  Args args;
  if (json.empty()) return args;
  const auto split = [&](std::string_view text) {
    args.clear();
    return base::for_each_member(text, base::JsonScanner::Mode::strict,
                                 [&](std::string_view key, std::string_view value) {
                                   args.emplace_back(base::unescaped(key), value);
                                 });
  };
  if (!split(json)) split(repair_json(json));
  if (has_twins(args)) keep_last_of_each_key(args);
  return args;
}

const std::string* find_arg(const Args& args, std::string_view key) {
  const auto at =
      std::find_if(args.begin(), args.end(), [&](const auto& arg) { return arg.first == key; });
  return at == args.end() ? nullptr : &at->second;
}

void remove_arg(Args& args, std::string_view key) {
  std::erase_if(args, [&](const auto& arg) { return arg.first == key; });
}

}  // namespace fathom::trace
