// Profile JSON, entry by entry: no more than a piece of it is in memory at a time.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/figure_fields.h"
#include "base/json_writer.h"
#include "fathom/profiler.h"

namespace fathom {
namespace {

using base::JsonWriter;

constexpr std::size_t kPiece = std::size_t{1} << 16;

// Writes what has been put together whenever it is large enough.
class JsonFile {
 public:
  explicit JsonFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "we")) {
    if (file_ == nullptr) fail();
  }
  ~JsonFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  JsonFile(const JsonFile&) = delete;
  JsonFile& operator=(const JsonFile&) = delete;

  std::string& text() { return text_; }
  void flush(std::size_t beyond) {
    if (text_.size() < beyond) return;
    if (std::fwrite(text_.data(), 1, text_.size(), file_) != text_.size()) fail();
    text_.clear();
  }
  void close() {
    flush(0);
    std::FILE* const file = std::exchange(file_, nullptr);
    if (std::fclose(file) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const { throw base::Error(path_, std::strerror(errno)); }

  const std::string path_;
  std::FILE* file_;
  std::string text_;
};

// Seconds with all nine decimals, as a double could not carry them.
void write_seconds(JsonWriter& json, std::int64_t ns) {
  json.raw(fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000));
}

void write_attributes(JsonWriter& json, const std::vector<Attribute>& attributes) {
  json.begin_object();
  for (const Attribute& attribute : attributes) {
    json.key(attribute.name);
    std::visit([&](const auto& value) { json.value(value); }, attribute.value);
  }
  json.end_object();
}

void write_entry(JsonWriter& json, const Entry& entry) {
  json.begin_object().key("operation").value(std::string_view(entry.operation));
  write_seconds(json.key("start_time"), entry.start_time);
  write_seconds(json.key("end_time"), entry.end_time);
  base::write_figures(json, entry, base::Unknown::is_null);
  json.key("device").value(std::string_view(entry.device));
  if (entry.backend.empty()) {
    json.key("backend").null();
  } else {
    json.key("backend").value(std::string_view(entry.backend));
  }
  json.key("thread").value(entry.thread);
  json.key("parent").value(entry.parent);
  json.key("failed").value(entry.failed);
  write_attributes(json.key("attributes"), entry.attributes);
  json.end_object();
}

void write_run(JsonWriter& json, const Drops& drops) {
  json.begin_object();
  json.key("pid").value(static_cast<std::int64_t>(getpid()));
  json.key("dropped_entries").value(drops.entries);
  json.key("dropped_activities").value(drops.activities);
  json.key("lost_scopes").value(drops.lost_scopes);
  json.end_object();
}

}  // namespace

void Profiler::export_json(const std::string& path) const {
  JsonFile file(path);
  JsonWriter json(file.text());
  json.begin_object().key("fathom").value(FATHOM_VERSION);
  write_run(json.key("run"), drops());
  json.key("entries").begin_array();
  for (const Entry& entry : entries()) {
    write_entry(json, entry);
    file.text() += '\n';
    file.flush(kPiece);
  }
  json.end_array().key("summary").begin_object();
  for (const auto& [operation, figures] : summary()) {
    json.key(operation).begin_object();
    base::write_figures(json, figures, base::Unknown::is_null);
    json.end_object();
    file.text() += '\n';
    file.flush(kPiece);
  }
  json.end_object().end_object();
  file.text() += '\n';
  file.close();
}

}  // namespace fathom
