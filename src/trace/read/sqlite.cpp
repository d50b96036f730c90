#include "trace/read/sqlite.h"

#include <sqlite3.h>

#include <algorithm>
#include <memory>

#include "trace/read/sqlite_wal.h"

namespace fathom::trace {
namespace {

constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kSmallestRow = 4;  // bytes in a file
constexpr std::size_t kLongestValue = 16 << 20;
constexpr int kStepsAtOnce = 10'000;          // of SQLite's machine, between two looks at the clock
constexpr std::uint64_t kStepsPerRow = 256;   // more than any table of an export has columns
constexpr std::uint64_t kMostTimesRead = 16;  // all arguments of a database

// All that is ever asked is rows of tables: no function, no write, no recursion, nothing attached.
int allow(void* /*nothing*/, int action, const char* first, const char* second,
          const char* /*database*/, const char* /*trigger*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
      return SQLITE_OK;
    case SQLITE_PRAGMA:
      return std::string_view(first) == "table_info" ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION:
      return std::string_view(second) == "like" ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

int spend(void* left) {
  std::uint64_t& budget = *static_cast<std::uint64_t*>(left);
  if (budget == 0) return 1;
  --budget;
  return 0;
}

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
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, index));
  text_left_ -= std::min<std::uint64_t>(text_left_, size);
  return text_left_ == 0 ? std::string_view() : std::string_view(text, size);
}

SqliteDatabase::SqliteDatabase(std::string_view bytes, std::string_view wal) {
  if (bytes.size() < kHeaderBytes) {
    is_cut_off_ = true;
    return;
  }
  // A database with a write-ahead log cannot be opened in memory: put in what the log holds, and
  // say that it has none.
  if (bytes[18] == 2 || bytes[19] == 2) {
    own_bytes_ = with_wal(bytes, wal);
    own_bytes_[18] = own_bytes_[19] = 1;
    bytes = own_bytes_;
  }
  is_cut_off_ = size_said(bytes) > bytes.size();
  max_rows_ = bytes.size() / kSmallestRow;
  // Cells that share their pages hold more text than the file; no honest one more than twice as
  // much, which is what UTF-16 can become.
  text_of_a_table_ = 2 * bytes.size() + 1;
  text_left_ = kMostTimesRead * text_of_a_table_;
  if (sqlite3_open_v2(":memory:", &database_, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK) return;
  sqlite3_db_config(database_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  // With this SQLite reads a file that is shorter than it says.
  sqlite3_db_config(database_, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
  sqlite3_limit(database_, SQLITE_LIMIT_LENGTH,
                static_cast<int>(std::min(kLongestValue, 2 * bytes.size())));
  // The flag is a promise not to write, so the constness is only lent.
  auto* lent = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  if (sqlite3_deserialize(database_, "main", lent, size, size, SQLITE_DESERIALIZE_READONLY) !=
      SQLITE_OK) {
    return;
  }
  sqlite3_set_authorizer(database_, allow, nullptr);
  steps_left_ = max_rows_ * kStepsPerRow / kStepsAtOnce + 1;
  sqlite3_progress_handler(database_, kStepsAtOnce, spend, &steps_left_);
  is_readable_ = read_tables();
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
  std::uint64_t text_left = text_of_a_table_;
  steps_left_ = max_rows_ * kStepsPerRow / kStepsAtOnce + 1;
  int status = SQLITE_ROW;
  while ((status = sqlite3_step(statement)) == SQLITE_ROW && rows++ < max_rows_ && text_left > 0) {
    visit(SqliteRow(statement, text_left));
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
  return run(query + " FROM " + quoted(table) + " NOT INDEXED", visit);
}

// Names each column: "*" would run what a generated one is made of.
std::string SqliteDatabase::row_query(const std::string& table) const {
  const auto at = tables_.find(table);
  if (at == tables_.end()) return {};
  std::string query;
  for (const std::string& column : at->second) {
    query += (query.empty() ? "SELECT " : ", ") + quoted(column);
  }
  return query + " FROM " + quoted(table) + " WHERE rowid = ?";
}

void SqliteDatabase::visit_row(const std::string& table, std::int64_t rowid,
                               const Visitor& visit) const {
  const auto [at, is_new] = row_queries_.try_emplace(table, nullptr);
  if (is_new) at->second = prepare(row_query(table));
  sqlite3_stmt* statement = at->second;
  if (statement == nullptr) return;
  sqlite3_bind_int64(statement, 1, rowid);
  steps_left_ = 1;
  if (sqlite3_step(statement) == SQLITE_ROW) visit(SqliteRow(statement, text_left_));
  sqlite3_reset(statement);
}

}  // namespace fathom::trace
