#pragma once

#include <string>
#include <string_view>

namespace fathom::trace {

// The bytes of a SQLite database after all that its write-ahead log has committed; as they are
// where the log is empty, or not of this database. What a log of a crashed program holds after its
// last commit is no part of the database.
std::string with_wal(std::string_view database, std::string_view wal);

}  // namespace fathom::trace
