#include <algorithm>
#include <array>
#include <string>

#include "base/json_writer.h"
#include "trace/read/nsys/reader.h"

namespace fathom::trace {
namespace {

// Columns that the Trace has in its own, or that say nothing to people.
constexpr std::array<std::string_view, 19> kTold = {
    "start",   "end",     "deviceId", "streamId",      "correlationId", "globalPid", "globalTid",
    "bytes",   "nameId",  "textId",   "demangledName", "mangledName",   "eventType", "copyKind",
    "srcKind", "dstKind", "memKind",  "syncType",      "eventClass"};

// Three columns that are one figure, under the name that Kineto gives it.
struct Triple {
  std::string_view first;
  std::string_view name;
};
constexpr std::array kTriples = {Triple{"gridX", "grid"}, Triple{"blockX", "block"},
                                 Triple{"clusterX", "cluster"}};

bool is_rest_of_triple(std::string_view column) {
  return std::any_of(kTriples.begin(), kTriples.end(), [&](const Triple& triple) {
    const std::string_view stem = triple.first.substr(0, triple.first.size() - 1);
    return column.size() == triple.first.size() && column.starts_with(stem) &&
           (column.back() == 'Y' || column.back() == 'Z');
  });
}

void write_triple(base::JsonWriter& json, const SqliteRow& row, int column, std::string_view name) {
  json.key(name).begin_array();
  for (int i = column; i < column + 3 && i < row.size(); ++i) json.value(row.integer(i));
  json.end_array();
}

void write_value(base::JsonWriter& json, const SqliteRow& row, int column) {
  if (row.is_text(column)) {
    json.value(row.text(column));
  } else if (row.is_real(column)) {
    json.value(row.real(column));
  } else {
    json.value(row.integer(column));
  }
}

void write_short_name(base::JsonWriter& json, const SqliteDatabase& database, std::int64_t id) {
  database.visit_row("StringIds", id, [&](const SqliteRow& row) {
    for (int i = 0; i < row.size(); ++i) {
      if (row.column(i) == "value") json.key("short name").value(row.text(i));
    }
  });
}

void write_column(base::JsonWriter& json, const SqliteDatabase& database, const SqliteRow& row,
                  int column) {
  const std::string_view name = row.column(column);
  if (row.is_null(column) || is_rest_of_triple(name)) return;
  if (std::find(kTold.begin(), kTold.end(), name) != kTold.end()) return;
  for (const Triple& triple : kTriples) {
    if (triple.first == name) return write_triple(json, row, column, triple.name);
  }
  if (name == "shortName")
    return write_short_name(json, database, row.integer(column).value_or(-1));
  // The name of the span, unless the span's is a part of it.
  if (name == "text" && without_call_number(row.text(column)) == row.text(column)) return;
  json.key(name == "registersPerThread" ? "registers per thread" : name);
  write_value(json, row, column);
}

}  // namespace

std::uint64_t nsys_source(NsysTable table, std::optional<std::int64_t> rowid) {
  if (!rowid || *rowid < 0 || *rowid >> kNsysRowBits != 0) return kNoSource;
  return static_cast<std::uint64_t>(table) << kNsysRowBits | static_cast<std::uint64_t>(*rowid);
}

std::string nsys_args(const SqliteDatabase& database, std::uint64_t source) {
  const std::uint64_t table = source >> kNsysRowBits;
  if (table >= kNsysTables.size()) return {};
  const std::uint64_t rowid = source & ((std::uint64_t{1} << kNsysRowBits) - 1);
  std::string out;
  database.visit_row(kNsysTables[table], static_cast<std::int64_t>(rowid),
                     [&](const SqliteRow& row) {
                       base::JsonWriter json(out);
                       json.begin_object();
                       for (int i = 0; i < row.size(); ++i) write_column(json, database, row, i);
                       json.end_object();
                     });
  return out;
}

}  // namespace fathom::trace
