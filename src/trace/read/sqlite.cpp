#include "trace/read/sqlite.h"

#include <sqlite3.h>

#include <algorithm>
#include <memory>

namespace fathom::trace {
namespace {

constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kSmallestRow = 4;  // bytes in a file
constexpr int kLongestValue = 64 << 20;

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

// What the header says: size of a page times number of pages. 0 where it does not say.
std::uint64_t size_said(std::string_view bytes) {
  const std::uint32_t page = big_endian(bytes.substr(16, 2));
  const std::uint64_t page_size = page == 1 ? 65536 : page;
  return page_size * big_endian(bytes.substr(28, 4));
}

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    text += c;
    if (c == '"') text += c;
  }
  return text + "\"";
}

}  // namespace

int SqliteRow::size() const {
  return sqlite3_column_count(statement_);
}

std::string_view SqliteRow::column(int index) const {
  const char* name = sqlite3_column_name(statement_, index);
  return name == nullptr ? "" : name;
}

bool SqliteRow::is_null(int index) const {
  return sqlite3_column_type(statement_, index) == SQLITE_NULL;
}

bool SqliteRow::is_text(int index) const {
  return sqlite3_column_type(statement_, index) == SQLITE_TEXT;
}

bool SqliteRow::is_real(int index) const {
  return sqlite3_column_type(statement_, index) == SQLITE_FLOAT;
}

std::optional<std::int64_t> SqliteRow::integer(int index) const {
  if (sqlite3_column_type(statement_, index) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_column_int64(statement_, index);
}

std::optional<double> SqliteRow::real(int index) const {
  const int type = sqlite3_column_type(statement_, index);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return std::nullopt;
  return sqlite3_column_double(statement_, index);
}

std::string_view SqliteRow::text(int index) const {
  if (!is_text(index)) return {};
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, index));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, index))};
}

SqliteDatabase::SqliteDatabase(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) {
    is_cut_off_ = true;
    return;
  }
  is_cut_off_ = size_said(bytes) > bytes.size();
  max_rows_ = bytes.size() / kSmallestRow;
  // A database with a write-ahead log beside it cannot be opened in memory, though all that was
  // moved out of the log can be read: say that it has none.
  if (bytes[18] == 2 || bytes[19] == 2) {
    own_bytes_ = bytes;
    own_bytes_[18] = own_bytes_[19] = 1;
    bytes = own_bytes_;
  }
  if (sqlite3_open_v2(":memory:", &database_, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK) return;
  sqlite3_db_config(database_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  // With this SQLite reads a file that is shorter than it says.
  sqlite3_db_config(database_, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
  sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, kLongestValue);
  // The flag is a promise not to write, so the constness is only lent.
  auto* lent = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  is_readable_ = sqlite3_deserialize(database_, "main", lent, size, size,
                                     SQLITE_DESERIALIZE_READONLY) == SQLITE_OK &&
                 read_tables();
}

SqliteDatabase::~SqliteDatabase() {
  for (const auto& [table, query] : row_queries_) sqlite3_finalize(query);
  sqlite3_close(database_);
}

bool SqliteDatabase::has(const std::string& table, std::string_view column) const {
  const auto at = tables_.find(table);
  if (at == tables_.end()) return false;
  return std::find(at->second.begin(), at->second.end(), column) != at->second.end();
}

// Tables of rows alone: what is computed (views, virtual tables, generated columns) is not read.
bool SqliteDatabase::read_tables() {
  std::vector<std::string> names;
  const bool is_whole =
      run("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'",
          [&](const SqliteRow& row) { names.emplace_back(row.text(0)); });
  for (const std::string& name : names) {
    std::vector<std::string>& columns = tables_[name];
    run("PRAGMA table_info(" + quoted(name) + ")",
        [&](const SqliteRow& row) { columns.emplace_back(row.text(1)); });
  }
  return !names.empty() || (is_whole && !is_cut_off_);
}

sqlite3_stmt* SqliteDatabase::prepare(const std::string& query) const {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database_, query.c_str(), static_cast<int>(query.size()), &statement, nullptr);
  return statement;
}

bool SqliteDatabase::run(const std::string& query, const Visitor& visit) const {
  sqlite3_stmt* statement = prepare(query);
  if (statement == nullptr) return false;
  const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> owner(statement,
                                                                         sqlite3_finalize);
  // Damaged pages may lead in circles: no table has more rows than the file has room for.
  std::uint64_t rows = 0;
  int status = SQLITE_ROW;
  while ((status = sqlite3_step(statement)) == SQLITE_ROW && rows++ < max_rows_) {
    visit(SqliteRow(statement));
  }
  return status == SQLITE_DONE;
}

bool SqliteDatabase::for_each_row(const std::string& table, const std::vector<std::string>& columns,
                                  const Visitor& visit) const {
  if (!has(table)) return true;
  std::string query;
  for (const std::string& column : columns) {
    query += query.empty() ? "SELECT " : ", ";
    query += column == "rowid" ? column : has(table, column) ? quoted(column) : "NULL";
  }
  return run(query + " FROM " + quoted(table), visit);
}

void SqliteDatabase::visit_row(const std::string& table, std::int64_t rowid,
                               const Visitor& visit) const {
  const auto [at, is_new] = row_queries_.try_emplace(table, nullptr);
  if (is_new) at->second = prepare("SELECT * FROM " + quoted(table) + " WHERE rowid = ?");
  sqlite3_stmt* statement = at->second;
  if (statement == nullptr) return;
  sqlite3_bind_int64(statement, 1, rowid);
  if (sqlite3_step(statement) == SQLITE_ROW) visit(SqliteRow(statement));
  sqlite3_reset(statement);
}

}  // namespace fathom::trace
