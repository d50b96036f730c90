#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace fathom::trace {

// The present row of a query; valid while its visitor runs.
class SqliteRow {
 public:
  // `text_left` is how much text may still be read; what goes beyond is empty.
  SqliteRow(sqlite3_stmt* statement, std::uint64_t& text_left)
      : statement_(statement), text_left_(text_left) {}

  int size() const;
  std::string_view column(int index) const;  // its name
  bool is_null(int index) const;
  bool is_text(int index) const;
  bool is_real(int index) const;
  std::optional<std::int64_t> integer(int index) const;  // absent where it is none
  std::optional<double> real(int index) const;
  std::string_view text(int index) const;  // empty where it is none

 private:
  sqlite3_stmt* statement_;
  std::uint64_t& text_left_;
};

// A SQLite database in memory or in a mapped file, read only: nothing is ever written, locked or
// left beside it, and no view, trigger, function or generated column of the database's own is ever
// run. A table gives at most as many rows and as much text as its file has room for. A damaged
// database is opened if its list of tables can be read. One thread at a time.
class SqliteDatabase {
 public:
  using Visitor = std::function<void(const SqliteRow&)>;

  // `bytes` has to outlive the database; `wal` is the write-ahead log beside it, if there is one.
  explicit SqliteDatabase(std::string_view bytes, std::string_view wal = {});
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  static bool is_one(std::string_view head) { return head.starts_with("SQLite format 3"); }

  // True where the file is shorter than it says that it is.
  bool is_cut_off() const { return is_cut_off_; }
  // False where not even the list of tables can be read.
  bool is_readable() const { return is_readable_; }
  bool has(const std::string& table) const { return tables_.contains(table); }
  bool has(const std::string& table, std::string_view column) const;

  // Visits the rows of a table; of these columns, those that it does not have are NULL. "rowid" is
  // a column. False where damage ended it early; a table that is not there has no rows.
  bool for_each_row(const std::string& table, const std::vector<std::string>& columns,
                    const Visitor& visit) const;

  // The whole row of this number, if it is there. Queries are kept for the next call.
  void visit_row(const std::string& table, std::int64_t rowid, const Visitor& visit) const;

 private:
  bool read_tables();
  std::string row_query(const std::string& table) const;
  sqlite3_stmt* prepare(const std::string& query) const;
  bool run(const std::string& query, const Visitor& visit) const;

  std::string own_bytes_;  // where there was a write-ahead log
  std::uint64_t max_rows_ = 0;
  std::uint64_t text_of_a_table_ = 0;
  mutable std::uint64_t text_left_ = 0;   // of all rows that `visit_row` visits
  mutable std::uint64_t steps_left_ = 0;  // of the present query; many at once
  sqlite3* database_ = nullptr;
  bool is_cut_off_ = false;
  bool is_readable_ = false;
  std::map<std::string, std::vector<std::string>> tables_;  // and their columns
  mutable std::map<std::string, sqlite3_stmt*> row_queries_;
};

}  // namespace fathom::trace
