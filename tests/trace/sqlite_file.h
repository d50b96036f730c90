#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fathom::trace::testing {

// A database of our own: the bytes of the file that these statements make.
inline std::string sqlite_file(const std::string& statements) {
  sqlite3* database = nullptr;
  sqlite3_open(":memory:", &database);
  sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr);
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(database, "main", &size, 0);
  std::string file(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(database);
  return file;
}

// What SQL itself answers: rows of text.
inline std::vector<std::vector<std::string>> ask(const std::string& path,
                                                 const std::string& query) {
  sqlite3* database = nullptr;
  sqlite3_open_v2(("file:" + path + "?immutable=1").c_str(), &database,
                  SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  std::vector<std::vector<std::string>> rows;
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr);
  while (sqlite3_step(statement) == SQLITE_ROW) {
    std::vector<std::string>& row = rows.emplace_back();
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
      row.emplace_back(text == nullptr ? "" : text);
    }
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return rows;
}

// The same, of a query with two columns.
inline std::map<std::string, std::string> ask_pairs(const std::string& path,
                                                    const std::string& query) {
  std::map<std::string, std::string> pairs;
  for (const auto& row : ask(path, query)) pairs[row.at(0)] = row.at(1);
  return pairs;
}

}  // namespace fathom::trace::testing
