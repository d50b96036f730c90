// Files that are made to hurt cost a bounded amount of memory and work, and end in a trace or in
// one line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "deflated.h"
#include "trace/corpus.h"
#include "trace/read.h"
#include "trace/read/chrome/chrome.h"
#include "trace/read/nsys/nsys.h"
#include "trace/read/sqlite.h"
#include "trace/sqlite_file.h"
#include "trace/trace_lines.h"

namespace fathom::trace::hostile_test {

using ::testing::HasSubstr;
using testing::sqlite_file;
using testing::TemporaryFile;

constexpr const char* kTables = R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'gemm');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER);
)";

std::string kernels(const std::string& more_columns) {
  return std::string(kTables) +
         "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
         "streamId INTEGER, correlationId INTEGER, demangledName INTEGER, gridX INTEGER" +
         more_columns +
         ");"
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, demangledName, "
         "gridX)"
         " VALUES (1, 2, 0, 7, 1, 64), (3, 4, 0, 7, 1, 64);";
}

Trace read_database(const std::string& statements) {
  return read_nsys(Input::from_bytes(sqlite_file(statements)));
}

TEST(HostileSqlite, GeneratedColumnsAreNeverRun) {
  const Trace trace = read_database(kernels(
      ", g TEXT GENERATED ALWAYS AS (hex(zeroblob(30000000))) VIRTUAL, later INTEGER DEFAULT 5"));
  ASSERT_EQ(trace.spans.size(), 2U);
  EXPECT_EQ(trace.args(0), R"({"grid":[64,5],"later":5})");
}

TEST(HostileSqlite, FunctionsAndWritesOfTheFileAreRefused) {
  const std::string bytes = kernels(", x TEXT DEFAULT 'plain'");
  const std::string file = sqlite_file(bytes);
  const SqliteDatabase database(file);
  ASSERT_TRUE(database.is_readable());
  std::size_t rows = 0;
  EXPECT_TRUE(database.for_each_row("CUPTI_ACTIVITY_KIND_KERNEL", {"start", "x\" || hex(1) || \""},
                                    [&](const SqliteRow& row) { rows += row.is_null(1) ? 1 : 0; }));
  EXPECT_EQ(rows, 2U);
}

// Rows whose cells lie on the same overflow pages: every one of them points to the chain of the
// first.
TEST(HostileSqlite, TextThatManyRowsShareIsReadOnceOrTwice) {
  std::string sql =
      "PRAGMA page_size = 512; CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);";
  constexpr int kRows = 400;
  for (int i = 0; i < kRows; ++i) {
    sql += "INSERT INTO StringIds VALUES (" + std::to_string(i + 1) + ", '" +
           std::string(20'000, 'x') + "');";
  }
  const std::string file = sqlite_file(sql);
  // As if the file were a tenth of what it is: so many of its rows would share their text.
  const SqliteDatabase database(std::string_view(file).substr(0, file.size() / 10));
  std::uint64_t text = 0;
  database.for_each_row("StringIds", {"value"},
                        [&](const SqliteRow& row) { text += row.text(0).size(); });
  EXPECT_LE(text, file.size() / 5 + 1);
}

// Two pages of the list of tables are made to say seventy times that the next one comes: what was a
// few views is 300,000, and as none of them is a table, no row is counted.
TEST(HostileSqlite, PagesThatLeadToOnePageEndTheQueryAfterAWhile) {
  constexpr std::size_t kPage = 512;
  constexpr std::size_t kInterior = 5;
  constexpr std::size_t kCells = 70;
  std::string sql = "PRAGMA page_size = 512;";
  for (int i = 0; i < 100; ++i) {
    sql += "CREATE VIEW v" + std::to_string(i) + " AS SELECT '" + std::string(60, 'x') + "';";
  }
  std::string file = sqlite_file(sql);
  const auto put = [&](std::size_t at, std::size_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0; value >>= 8) file[at + i] = static_cast<char>(value);
  };
  const auto number = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(file[at]) << 8 |
                                    static_cast<unsigned char>(file[at + 1]));
  };
  constexpr std::size_t kRootHead = 100;  // the file's own head comes first
  ASSERT_EQ(static_cast<std::size_t>(file[kRootHead]), kInterior);
  put(kRootHead + 8, 3, 4);
  for (std::size_t cell = 0; cell < number(kRootHead + 3); ++cell) {
    put(number(kRootHead + 12 + 2 * cell), 3, 4);
  }
  for (const std::size_t page : {3, 4}) {
    const std::size_t at = (page - 1) * kPage;
    file.replace(at, kPage, kPage, '\0');
    put(at, kInterior, 1);
    put(at + 3, kCells, 2);
    put(at + 5, kPage - 5 * kCells, 2);
    put(at + 8, page + 1, 4);
    for (std::size_t cell = 0; cell < kCells; ++cell) {
      const std::size_t place = kPage - 5 * (cell + 1);
      put(at + 12 + 2 * cell, place, 2);
      put(at + place, page + 1, 4);
      put(at + place + 4, 1, 1);
    }
  }
  EXPECT_FALSE(SqliteDatabase(file).is_readable());
}

TEST(HostileSqlite, ACellOfMoreThan16MegabytesIsNotRead) {
  const std::string file = sqlite_file(
      "CREATE TABLE t (a BLOB); INSERT INTO t VALUES (zeroblob(100)), (zeroblob(17000000));");
  const SqliteDatabase database(file);
  std::size_t rows = 0;
  EXPECT_FALSE(database.for_each_row("t", {"a"}, [&](const SqliteRow&) { ++rows; }));
  EXPECT_EQ(rows, 1U);
}

class Wal : public ::testing::Test {
 protected:
  // A database that a program still has open: what it wrote last is in the log alone.
  void make(const std::string& in_the_file, const std::string& in_the_log) {
    sqlite3_open(file_.path().c_str(), &database_);
    sqlite3_exec(database_, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0", nullptr,
                 nullptr, nullptr);
    sqlite3_exec(database_, in_the_file.c_str(), nullptr, nullptr, nullptr);
    sqlite3_wal_checkpoint_v2(database_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    sqlite3_exec(database_, in_the_log.c_str(), nullptr, nullptr, nullptr);
  }
  void TearDown() override {
    sqlite3_close(database_);
    for (const char* ending : {"-wal", "-shm"}) std::remove((file_.path() + ending).c_str());
  }

  TemporaryFile file_{"open.sqlite"};
  sqlite3* database_ = nullptr;
};

TEST_F(Wal, IsReadWithTheDatabaseItIsBeside) {
  std::string many = "BEGIN;";
  for (int i = 0; i < 3000; ++i) {
    many +=
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, demangledName) "
        "VALUES (" +
        std::to_string(10 + i) + "," + std::to_string(11 + i) + ",0,7,1);";
  }
  make(kernels(""), many + "COMMIT;");
  const std::string before = file_.bytes();
  EXPECT_EQ(read_trace(file_.path()).spans.size(), 3002U);
  EXPECT_EQ(file_.bytes(), before);
}

TEST_F(Wal, CountsUpToItsLastWholeCommit) {
  make(kernels(""),
       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, demangledName)"
       " VALUES (5, 6, 0, 7, 1)");
  std::fstream wal(file_.path() + "-wal", std::ios::in | std::ios::out | std::ios::binary);
  wal.seekp(-1, std::ios::end);
  wal.put('!');  // its checksum is wrong now
  wal.close();
  EXPECT_EQ(read_trace(file_.path()).spans.size(), 2U);
}

TEST_F(Wal, OfTheCorpus) {
  const auto path = corpus_file("hostile/s_walcopy.sqlite");
  if (!path) GTEST_SKIP() << "no corpus";
  const Trace trace = read_trace(*path);
  EXPECT_GT(trace.spans.size(), 0U);
}

TEST(HostileSqlite, GeneratedColumnsOfTheCorpus) {
  const auto path = corpus_file("hostile/s_gen.sqlite");
  if (!path) GTEST_SKIP() << "no corpus";
  const Trace trace = read_trace(*path);
  for (SpanId id = 0; id < trace.spans.size(); ++id) EXPECT_LT(trace.args(id).size(), 1000U);
}

// gzip of `head` and so many megabytes of one character.
std::string bomb(const std::string& head, char c, int megabytes) {
  return deflated(head, std::string(1 << 20, c), megabytes);
}

TEST(HostileJson, WithoutAnEventForLongIsRefusedInOneLine) {
#ifdef FATHOM_THREAD_SANITIZER
  GTEST_SKIP() << "one thread reads 390 MB, which takes minutes to watch";
#endif
  const std::string event = R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1})";
  for (const auto& [head, c] :
       {std::pair<std::string, char>{"{\"traceEvents\":[" + event + ",", ' '},
        {"{\"traceEvents\":[" + event + R"(,{"ph":"X","name":")", 'x'},
        {"[[", '['}}) {
    const auto input = Input::from_bytes(bomb(head, c, 130), "bomb.json.gz");
    EXPECT_LT(input->stored_size(), 1'000'000U);
    try {
      read_chrome(input, 1);
      ADD_FAILURE() << c;
    } catch (const base::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("bomb.json.gz: not readable: 128 MB from byte"));
    }
  }
}

TEST(HostileJson, BytesThatNoMachineHasAreSetAsideAndSaid) {
  const TemporaryFile file("bytes.json");
  const std::string most = "9223372036854775807";
  std::ofstream(file.path())
      << R"([{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":1,"dur":1,"args":{"stream":7,"device":0,"bytes":)"
      << most << R"(}},{"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":1,"s":"t","args":{"Bytes":)"
      << most
      << R"(}},{"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":1,"s":"t","args":{"Bytes":8,"Total Allocated":)"
      << most
      << R"(}},{"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":1,"s":"t","args":{"Bytes":1e99}}])";
  const Trace trace = read_trace(file.path());
  EXPECT_TRUE(trace.bytes.empty());
  ASSERT_EQ(trace.memory.size(), 1U);
  EXPECT_EQ(trace.memory[0].bytes, 8);
  EXPECT_EQ(trace.memory[0].total_allocated, std::nullopt);
  EXPECT_EQ(trace.warnings.count(WarningKind::impossible_bytes), 3U);
  EXPECT_EQ(trace.warnings.count(WarningKind::bad_number), 1U);
}

TEST(HostileJson, ABareListOfProfileEntriesIsAProfile) {
  const TemporaryFile file("entries.json");
  std::ofstream(file.path())
      << R"([{"operation":"a","duration_ms":1},{"operation":"b","duration_ms":2}])";
  const Trace trace = read_trace(file.path());
  EXPECT_EQ(trace.spans.size(), 2U);
  EXPECT_EQ(trace.run.format, "profile JSON");
}

TEST(HostileJson, CorrelationZeroIsNone) {
  const auto trace = read_chrome(Input::from_bytes(
      R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,"args":{"stream":7,"correlation":0}}])"));
  EXPECT_EQ(trace.spans.correlation[0], kNoCorrelation);
}

}  // namespace fathom::trace::hostile_test
