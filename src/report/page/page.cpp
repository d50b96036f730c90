#include "report/page/page.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <limits>

#include "base/base64.h"

namespace fathom::report {
namespace {

constexpr std::string_view kPlaceOfData = "<!--data-->";

// A gzip stream of any length; zlib counts its input in 32 bits, so it is handed on in pieces.
std::string gzip(std::string_view bytes) {
  constexpr int kGzipHeader = 16;
  z_stream stream = {};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + kGzipHeader, 8, Z_DEFAULT_STRATEGY);
  std::string packed;
  do {
    if (stream.avail_in == 0 && !bytes.empty()) {
      const std::size_t piece = std::min<std::size_t>(bytes.size(), 1U << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(piece);
      bytes.remove_prefix(piece);
    }
    const std::size_t had = packed.size();
    packed.resize(had + (1U << 20));
    stream.next_out = reinterpret_cast<Bytef*>(packed.data() + had);
    stream.avail_out = 1U << 20;
    deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    packed.resize(packed.size() - stream.avail_out);
  } while (stream.avail_out == 0 || stream.avail_in > 0 || !bytes.empty());
  deflateEnd(&stream);
  return packed;
}

[[maybe_unused]] bool is_plain_word(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

std::string_view page_begin() {
  constexpr std::string_view kMark = "content=\"Fathom\">";
  const std::string_view page = page_template();
  return page.substr(0, page.find(kMark) + kMark.size());
}

std::string page_html(const PageData& data, std::string_view start) {
  const std::string_view page = page_template();
  const std::size_t place = page.find(kPlaceOfData);
  assert(place != std::string_view::npos);
  std::string html(page.substr(0, place));
  assert(is_plain_word(start));
  if (!start.empty()) {
    html +=
        fmt::format("<script type=\"application/x-fathom\" data-start=\"{}\"></script>\n", start);
  }
  for (const auto& [name, bytes] : data) {
    assert(is_plain_word(name));
    html += fmt::format("<script type=\"application/x-fathom\" data-name=\"{}\">", name);
    html += base::base64(gzip(bytes));
    html += "</script>\n";
  }
  html += page.substr(place + kPlaceOfData.size());
  return html;
}

}  // namespace fathom::report
