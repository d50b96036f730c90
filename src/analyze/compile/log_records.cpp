#include "analyze/compile/log_records.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/json_scan.h"
#include "base/md5.h"

namespace fathom::analyze {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "V0524 12:48:44": the level, month and day, and the time of day.
bool has_log_time(std::string_view line) {
  constexpr std::string_view kForm = "L0000 00:00:00";
  constexpr std::string_view kLevels = "VIWEC";
  if (line.size() < kForm.size() || kLevels.find(line[0]) == std::string_view::npos) return false;
  for (std::size_t i = 1; i < kForm.size(); ++i) {
    if (kForm[i] == '0' ? !is_digit(line[i]) : line[i] != kForm[i]) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string_view> json_of_line(std::string_view line) {
  if (!has_log_time(line)) return {};
  const std::size_t end = line.find("] ");
  if (end == std::string_view::npos) return {};
  std::string_view json = line.substr(end + 2);
  if (json.ends_with('\r')) json.remove_suffix(1);
  if (!json.starts_with('{')) return {};
  return json;
}

bool is_compile_log(std::string_view head) {
  // The beginning may be cut off or damaged: then a line further on is one.
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    if (json_of_line(head.substr(0, end))) return true;
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return false;
}

bool is_damaged(const LogRecord& record) {
  constexpr std::string_view kKey = "\"has_payload\": \"";
  constexpr std::size_t kDigits = 32;
  // The last one: other members may hold text.
  const std::size_t at = record.json.rfind(kKey);
  if (at == std::string_view::npos) return false;
  const std::string_view rest = record.json.substr(at + kKey.size());
  const std::string_view sum = rest.substr(0, kDigits);
  if (sum.find_first_not_of("0123456789abcdef") != std::string_view::npos) return false;
  if (rest.size() <= kDigits || rest[kDigits] != '"') return false;
  return base::md5_hex(payload_text(record)) != sum;
}

bool says_nothing(const LogRecord& record) {
  constexpr std::array<std::string_view, 5> kUnused = {"{\"describe_", "{\"dynamo_output_graph\"",
                                                       "{\"dynamo_cpp_guards_str\"",
                                                       "{\"dynamo_guards\"", "{\"aot_"};
  return std::ranges::any_of(
      kUnused, [&](std::string_view begin) { return record.json.starts_with(begin); });
}

std::string payload_text(const LogRecord& record) {
  std::string text;
  text.reserve(record.payload.size());
  for (std::size_t at = 0; at < record.payload.size();) {
    const std::size_t end = std::min(record.payload.find('\n', at), record.payload.size());
    if (at > 0) text += '\n';
    text += record.payload.substr(at + 1, end - at - 1);
    at = end + 1;
  }
  return text;
}

std::string payload_words(LogRecord record) {
  constexpr std::size_t kMostWords = 1 << 16;
  record.payload = record.payload.substr(0, kMostWords);
  return payload_text(record);
}

}  // namespace fathom::analyze
