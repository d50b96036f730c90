#include "trace/read/nsys/nsys.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "trace/read/nsys/reader.h"
#include "trace/read/number.h"

namespace fathom::trace {
namespace {

constexpr const char* kExportHint =
    "Fathom reads what `nsys export --type sqlite report.nsys-rep` writes.";

// The content of the file of the same name with this ending; empty where there is none.
std::string beside(const Input& input, const char* ending) {
  std::error_code none;
  const std::string path = input.name() + ending;
  if (!input.is_file() || input.packing() != Packing::none ||
      !std::filesystem::is_regular_file(path, none))
    return {};
  if (std::filesystem::file_size(path, none) == 0) return {};
  return std::string(Input::open(path)->view());
}

// A database and what it is read from. Arguments are looked up in it from any thread.
struct OpenExport {
  explicit OpenExport(std::shared_ptr<const Input> from)
      : input(std::move(from)), database(input->view(), beside(*input, "-wal")) {}

  std::shared_ptr<const Input> input;
  SqliteDatabase database;
  std::mutex mutex;
};

bool is_nsys_export(const SqliteDatabase& database) {
  if (!database.has("StringIds", "value")) return false;
  return database.has("META_DATA_EXPORT") || database.has("TARGET_INFO_SESSION_START_TIME") ||
         std::any_of(kNsysTables.begin(), kNsysTables.end(),
                     [&](const char* table) { return database.has(table, "start"); });
}

void refuse_others(const OpenExport& from) {
  const SqliteDatabase& database = from.database;
  if (!database.is_readable()) {
    throw base::Error(from.input->name(), database.is_cut_off()
                                              ? "SQLite database, cut off before its tables"
                                              : "damaged SQLite database: no tables");
  }
  if (!is_nsys_export(database)) {
    throw base::Error(from.input->name(),
                      "not a trace: SQLite database without the tables of an Nsight Systems export",
                      kExportHint);
  }
}

}  // namespace

NsysReader::NsysReader(const SqliteDatabase& database) : database_(database) {
  for (const NsysTable table : {NsysTable::kernel, NsysTable::memcpy, NsysTable::memset}) {
    tells_processes_apart_ |= database.has(name_of(table), "globalPid");
  }
  visit("StringIds", {"id", "value"}, [&](const SqliteRow& row) {
    if (const auto id = row.integer(0)) strings_.emplace(*id, row.text(1));
  });
  visit("ENUM_CUDA_MEM_KIND", {"id", "label"}, [&](const SqliteRow& row) {
    if (const auto id = row.integer(0)) memory_kinds_.emplace(*id, row.text(1));
  });
}

void NsysReader::visit(const std::string& table, const Columns& columns,
                       const SqliteDatabase::Visitor& visitor) {
  if (!database_.for_each_row(table, columns, visitor)) {
    part_.warnings.add(WarningKind::damaged_table, kNowhere);
  }
}

bool NsysReader::read_times(const SqliteRow& row, int start, int end, SpanRow& span) {
  const auto from = row.integer(start);
  const auto to = row.integer(end);
  if (!from || *from < -kMaxTime || *from > kMaxTime) {
    part_.warnings.add(WarningKind::missing_time, kNowhere);
    return false;
  }
  if (!to || *to > kMaxTime) {
    part_.warnings.add(WarningKind::missing_duration, kNowhere);
    return false;
  }
  if (*to < *from) {
    part_.warnings.add(WarningKind::negative_duration, kNowhere);
    return false;
  }
  span.start_ns = *from;
  span.duration_ns = *to - *from;
  return true;
}

std::int64_t NsysReader::correlation(std::int64_t pid, std::optional<std::int64_t> id) {
  constexpr std::int64_t kBits = 32;
  if (!id || *id <= 0 || *id >> kBits != 0) return kNoCorrelation;
  if (!tells_processes_apart_) return *id;
  const auto number = static_cast<std::int64_t>(processes_.size());
  return processes_.try_emplace(pid, number).first->second << kBits | *id;
}

std::string_view NsysReader::string(std::optional<std::int64_t> id) const {
  const auto at = id ? strings_.find(*id) : strings_.end();
  return at == strings_.end() ? std::string_view() : at->second;
}

NameId NsysReader::name(std::optional<std::int64_t> string_id) {
  const auto [at, is_new] = names_.try_emplace(string_id.value_or(-1), 0);
  if (is_new) at->second = part_.names.intern(string(string_id));
  return at->second;
}

TrackId NsysReader::thread_track(std::int64_t global_tid) {
  const auto [at, is_new] = threads_.try_emplace(global_tid, 0);
  if (is_new) {
    at->second = part_.track(TrackKind::thread, pid_of(global_tid), tid_of(global_tid));
  }
  return at->second;
}

Trace read_nsys(const std::shared_ptr<const Input>& input) {
  const auto from = std::make_shared<OpenExport>(input);
  refuse_others(*from);
  NsysReader reader(from->database);
  reader.read_gpu_work();
  reader.read_syncs();
  reader.read_calls();
  reader.read_ranges();
  reader.read_memory();
  reader.read_metrics();
  reader.name_tracks();
  RunInfo run = reader.run_info();
  std::vector<TracePart> parts;
  parts.push_back(reader.take());
  if (from->database.is_cut_off()) {
    parts[0].warnings.add(WarningKind::cut_off, input->view().size());
  }
  Trace trace = assemble(std::move(parts), std::move(run));
  trace.args_at = [from](std::uint64_t source) {
    const std::lock_guard lock(from->mutex);
    return nsys_args(from->database, source);
  };
  return trace;
}

}  // namespace fathom::trace
