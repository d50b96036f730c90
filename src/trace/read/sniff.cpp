#include "trace/read/sniff.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/json_text.h"

namespace fathom::trace {
namespace {

struct Magic {
  std::string_view bytes;
  std::string_view what;
};

constexpr std::array kForeign = {
    Magic{"\x89PNG", "PNG image"},
    Magic{"\xFF\xD8\xFF", "JPEG image"},
    Magic{"GIF8", "GIF image"},
    Magic{"%PDF", "PDF document"},
    Magic{"PK\x05\x06", "empty ZIP archive"},
    Magic{"7z\xBC\xAF", "7z archive (unpack it first)"},
    Magic{"\xFD"
          "7zXZ",
          "xz data (unpack it first)"},
    Magic{"BZh", "bzip2 data (unpack it first)"},
    Magic{"\x7F"
          "ELF",
          "ELF program"},
    Magic{"<", "HTML or XML page"},
};

std::string_view skip_space(std::string_view text) {
  const auto at = std::find_if_not(text.begin(), text.end(), base::is_json_space);
  return text.substr(static_cast<std::size_t>(at - text.begin()));
}

// Text after a string that starts at text[0], with the string itself in `inside`.
std::string_view skip_string(std::string_view text, std::string_view& inside) {
  std::size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  at = std::min(at, text.size());
  inside = text.substr(1, at - 1);
  return text.substr(std::min(at + 1, text.size()));
}

// An object is a profile, or an entry of one, if one of a profile's keys comes before any key of a
// trace. Only keys of the outermost object count.
Format format_of_object(std::string_view text) {
  int depth = 0;
  bool after_colon = false;
  while (!text.empty()) {
    const char c = text[0];
    if (c == '"') {
      std::string_view key;
      text = skip_string(text, key);
      if (depth != 1 || after_colon) continue;
      if (key == "traceEvents" || key == "ph") return Format::chrome_json;
      if (key == "fathom" || key == "entries" || key == "summary" || key == "operation") {
        return Format::profile_json;
      }
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth == 1) after_colon = c == ':' || (after_colon && c != ',' && c != '}');
    text.remove_prefix(1);
  }
  return Format::chrome_json;
}

bool looks_like_json(std::string_view text) {
  if (text.empty() || (text[0] != '{' && text[0] != '[')) return false;
  const std::string_view next = skip_space(text.substr(1));
  if (next.empty()) return true;
  if (text[0] == '[') return std::string_view("{]n,[").find(next[0]) != std::string_view::npos;
  return next[0] == '"' || next[0] == '}';
}

// A Perfetto trace is packets of field 1, each with a length; and the packet starts with a field.
// A newline is the same byte, so text that goes on as JSON has been ruled out before.
bool looks_like_perfetto(std::string_view head) {
  if (head.size() < 3 || head[0] != '\x0A') return false;
  std::uint64_t length = 0;
  std::size_t at = 1;
  for (unsigned shift = 0; at < head.size() && shift < 35; shift += 7) {
    const auto byte = static_cast<unsigned char>(head[at++]);
    length |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) break;
  }
  if (at >= head.size() || length == 0) return false;
  const auto tag = static_cast<unsigned char>(head[at]);
  const unsigned type = tag & 7U;
  const bool is_known_type = type == 0 || type == 1 || type == 2 || type == 5;
  if (!is_known_type || (tag >> 3 == 0)) return false;
  // Where the next packet is in sight, it has to be one.
  return at + length >= head.size() || head[at + length] == '\x0A';
}

// A pickle says its protocol first, from 2 on; those before have no sign but how a dict or a list
// begins in them, or what a call is named.
bool looks_like_pickle(std::string_view head) {
  if (head.size() < 3) return false;
  if (head[0] == '\x80') return head[1] >= 2 && head[1] <= 5;
  if (head.starts_with("(dp") || head.starts_with("(lp")) return true;
  if (head.starts_with("}q") || head.starts_with("]q")) return true;
  const std::size_t line = head.substr(0, 128).find('\n');
  const bool is_call = head[0] == 'c' && line != std::string_view::npos;
  return is_call && head.substr(line + 1, 128).find("\n(") != std::string_view::npos;
}

bool is_text(std::string_view head) {
  return std::all_of(head.begin(), head.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || base::is_json_space(c);
  });
}

}  // namespace

Sniffed sniff(std::string_view head) {
  std::string_view text = head;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text = skip_space(text);
  const bool is_json = looks_like_json(text);
  if (looks_like_perfetto(head) && !(is_json && text[0] == '{' && is_text(head))) {
    return {Format::perfetto, {}};
  }
  if (text.starts_with(R"({"schema":"https://fathom.invalid/)")) {
    return {Format::foreign, "JSON that a command of fathom wrote"};
  }
  // A list is told by the objects in it: of events, or of a profile's entries.
  if (is_json) return {format_of_object(text[0] == '{' ? text : skip_space(text.substr(1))), {}};
  if (head.starts_with("SQLite format 3")) return {Format::sqlite, {}};
  if (looks_like_pickle(head)) return {Format::pickle, {}};
  for (const Magic& magic : kForeign) {
    if (text.starts_with(magic.bytes) || head.starts_with(magic.bytes)) {
      return {Format::foreign, magic.what};
    }
  }
  return {Format::foreign, is_text(head) ? "text" : "unknown data", false};
}

}  // namespace fathom::trace
