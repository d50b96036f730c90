// What files that are made to hurt may take of the machine's memory, as docs/formats.md promises
// it: measured on the program itself, as the system counts it.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/run_program.h"
#include "deflated.h"
#include "trace/perfetto_builder.h"

namespace fathom::cli::hostile_memory_test {

constexpr std::int64_t kMb = 1 << 20;

class Bomb : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(FATHOM_ADDRESS_SANITIZER) || defined(FATHOM_THREAD_SANITIZER)
    GTEST_SKIP() << "a sanitizer's own memory would be measured";
#endif
    idle_ = run_program({"--version"}).most_memory;
  }

  // Runs a command on a file; what it took beyond an idle fathom is at most `limit`. It ends with
  // an answer or with one line.
  void expect_memory(const std::string& command, const std::string& file, std::int64_t limit) {
    const Outcome outcome = run_program({command, file});
    const std::int64_t taken = outcome.most_memory - idle_;
    EXPECT_LE(taken, limit) << command << " " << file << ": " << taken / kMb << " MB";
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_TRUE(outcome.status == 0 || outcome.status == 2) << outcome.status;
    if (outcome.status == 2) {
      EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    }
    RecordProperty(command, std::to_string(taken / kMb));
  }

  // gzip, or what a ZIP archive holds, of `head` and so many megabytes of one character.
  static std::string packed(const std::string& head, char c, std::int64_t megabytes, int bits) {
    return packed(head, std::string(kMb, c), megabytes, bits);
  }
  static std::string packed(const std::string& head, const std::string& piece, std::int64_t times,
                            int bits) {
    return deflated(head, piece, times, bits);
  }

  Scratch scratch_;
  std::int64_t idle_ = 0;
};

constexpr const char* kEvent =
    R"({"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1},)";

// Of a piece without the end of an event: seven times its size, and never more than of 128 MB. As
// gzip so that a small file does it; ten times as much costs no more, because reading ends at 128
// MB.
TEST_F(Bomb, JsonWithoutEventsTakesSevenTimesThePiece) {
  const std::string opened = std::string(kEvent) + R"({"ph":"X","name":")";
  const struct {
    const char* name;
    std::string head;
    char filler;
  } kinds[] = {{"spaces.json.gz", kEvent, ' '},
               {"string.json.gz", opened, 'x'},
               {"brackets.json.gz", "[[", '['}};
  for (const auto& [name, head, filler] : kinds) {
    const std::string small = scratch_.write(name, packed(head, filler, 24, kGzipBits));
    EXPECT_LT(std::filesystem::file_size(small), 300'000U);
    expect_memory("report", small, 7 * 24 * kMb + 32 * kMb);
  }
  const std::string large =
      scratch_.write("large.json.gz", packed("{\"traceEvents\":[", ' ', 400, kGzipBits));
  expect_memory("report", large, 7 * 128 * kMb);
}

// However many threads there are to read them.
TEST_F(Bomb, LongEventsTakeTenTimesTheLongest) {
  std::string event = R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"a":[1)";
  while (event.size() < 24 * kMb) event += ",1";
  event += "]}},";
  const std::string file = scratch_.write("long.json.gz", packed(kEvent, event, 8, kGzipBits));
  EXPECT_LT(std::filesystem::file_size(file), 2'000'000U);
  expect_memory("report", file, 10 * 24 * kMb + 32 * kMb);
}

void append_little_endian(std::string& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i) & 0xFF);
}

TEST_F(Bomb, AnArchiveTakesWhatIsInIt) {
  const std::int64_t megabytes = 64;
  const std::string data = packed(kEvent, ' ', megabytes, kBareBits);
  const std::uint64_t size = std::string(kEvent).size() + megabytes * kMb;
  std::string zip = "PK\x03\x04";
  std::string entry;  // from the version on, as both headers have it
  append_little_endian(entry, 20, 2);
  append_little_endian(entry, 0, 2);
  append_little_endian(entry, 8, 2);
  append_little_endian(entry, 0, 4);
  append_little_endian(entry, 0, 4);  // nobody asks for the checksum before it is unpacked
  append_little_endian(entry, data.size(), 4);
  append_little_endian(entry, size, 4);
  append_little_endian(entry, 6, 2);
  append_little_endian(entry, 0, 2);
  zip += entry + "a.json" + data;
  const std::size_t directory = zip.size();
  zip += "PK\x01\x02";
  append_little_endian(zip, 20, 2);
  zip += entry;
  append_little_endian(zip, 0, 10);
  append_little_endian(zip, 0, 4);
  zip += "a.json";
  const std::size_t directory_size = zip.size() - directory;
  zip += "PK\x05\x06";
  append_little_endian(zip, 0, 4);
  append_little_endian(zip, 1, 2);
  append_little_endian(zip, 1, 2);
  append_little_endian(zip, directory_size, 4);
  append_little_endian(zip, directory, 4);
  append_little_endian(zip, 0, 2);
  const std::string file = scratch_.write("bomb.zip", zip);
  EXPECT_LT(zip.size(), 400'000U);
  expect_memory("report", file, 7 * megabytes * kMb + 32 * kMb);
}

// Lists that are written once and refer to each other many times: 2^n of one another.
TEST_F(Bomb, APickleTakesAMultipleOfItsSize) {
  for (const int copies : {4'000, 40'000}) {
    std::string pickle("\x80\x02}q\x00", 5);
    pickle += "X";
    append_little_endian(pickle, 8, 4);
    pickle += "segments]";
    pickle += "X";
    append_little_endian(pickle, 13, 4);
    pickle += "device_traces](";
    pickle += "](";  // the list of events that all devices share
    for (int i = 0; i < 200; ++i) {
      pickle += "}(X";
      append_little_endian(pickle, 6, 4);
      pickle += "actionX";
      append_little_endian(pickle, 5, 4);
      pickle += "allocX";
      append_little_endian(pickle, 4, 4);
      pickle += "sizeM";
      append_little_endian(pickle, 512, 2);
      pickle += "u";
    }
    pickle += std::string("eq\x01", 3);
    for (int i = 0; i < copies; ++i) pickle += std::string("h\x01", 2);
    pickle += "e";
    pickle += "u.";
    // {segments: [], device_traces: [...]}: the mark for "u" is set before its keys.
    pickle.insert(5, "(");
    const std::string file = scratch_.write("shared.pickle", pickle);
    expect_memory("memory", file, 32 * kMb + 100 * static_cast<std::int64_t>(pickle.size()));
  }
}

std::string make_database(const std::string& path, const std::string& statements) {
  std::filesystem::remove(path);
  sqlite3* database = nullptr;
  sqlite3_open(path.c_str(), &database);
  EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
  return path;
}

constexpr const char* kKernels =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT, "
    "demangledName INT, gridX INT);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, demangledName) VALUES "
    "(1, 2, 0, 7, 1), (3, 4, 0, 7, 2);"  // and then, so that nobody computes it here:
    "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN big TEXT GENERATED ALWAYS AS "
    "(hex(zeroblob(300000000))) VIRTUAL;";

// What is in it is mapped, and copied once where it is shown: a payload of 300 MB.
TEST_F(Bomb, ALogOfACompilerTakesTwiceWhatIsInIt) {
  const std::string head =
      "V0721 16:11:45.671000 98102 torch/_dynamo/utils.py:1900] {\"artifact\": {\"name\": "
      "\"dynamo_graph_break_reason\", \"encoding\": \"string\"}, \"frame_id\": 0, "
      "\"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": \"x\"}\n\t";
  const std::string file = scratch_.write("rank_0.log.gz", packed(head, 'x', 300, kGzipBits));
  expect_memory("compile", file, 2 * 300 * kMb);
}

TEST_F(Bomb, GeneratedColumnsTakeNothing) {
  const std::string file = make_database(
      scratch_.path("generated.sqlite"),
      std::string("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);") + kKernels);
  for (const char* command : {"report", "hta", "timeline"}) expect_memory(command, file, 48 * kMb);
  const Outcome converted =
      run_program({"convert", file, scratch_.path("out.json")});  // which asks for all arguments
  EXPECT_EQ(converted.status, 0) << converted.err;
  EXPECT_LE(converted.most_memory - idle_, 48 * kMb);
}

// A leaf page of our own: rows whose text lies on one and the same chain of overflow pages.
TEST_F(Bomb, RowsThatShareTheirPagesTakeAMultipleOfTheFile) {
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kLocal = 489;  // of a long cell, what SQLite keeps in the leaf
  constexpr std::size_t kChain = 3000;
  const std::string path = make_database(
      scratch_.path("shared.sqlite"),
      "PRAGMA page_size = 4096; CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value "
      "TEXT); CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId "
      "INT, streamId INT, demangledName INT); INSERT INTO "
      "CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,1),(3,4,0,7,2),(5,6,0,7,3),"
      "(7,8,0,7,4),(9,10,0,7,5),(11,12,0,7,6),(13,14,0,7,7),(15,16,0,7,8);");
  std::string file = content_of(path);
  const std::size_t first_overflow = file.size() / kPage + 1;
  const std::size_t payload = kLocal + kChain * (kPage - 4);
  const auto varint = [](std::size_t value) {
    std::string bytes;
    for (bool is_last = true; value > 0 || is_last; is_last = false, value >>= 7) {
      bytes.insert(bytes.begin(), static_cast<char>((value & 0x7F) | (is_last ? 0 : 0x80)));
    }
    return bytes;
  };
  const auto big_endian = [](std::size_t value, int bytes) {
    std::string text;
    for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xFF);
    return text;
  };
  const std::size_t text = payload - 6;  // the header of a record: its size, NULL, text
  const std::string header = std::string(1, 6) + std::string(1, 0) + varint(text * 2 + 13);
  std::string leaf(kPage, '\0');
  std::size_t end = kPage;
  constexpr std::size_t kRows = 8;
  std::string pointers;
  for (std::size_t row = 1; row <= kRows; ++row) {
    std::string cell = varint(payload) + varint(row) + header;
    cell += std::string(kLocal - header.size(), static_cast<char>('a' + row));
    cell += big_endian(first_overflow, 4);
    end -= cell.size();
    leaf.replace(end, cell.size(), cell);
    pointers += big_endian(end, 2);
  }
  const std::string head =
      std::string(1, 13) + big_endian(0, 2) + big_endian(kRows, 2) + big_endian(end, 2) + '\0';
  leaf.replace(0, head.size(), head);
  leaf.replace(head.size(), pointers.size(), pointers);
  file.replace(kPage, kPage, leaf);  // StringIds is the first table
  for (std::size_t i = 0; i < kChain; ++i) {
    file +=
        big_endian(i + 1 < kChain ? first_overflow + i + 1 : 0, 4) + std::string(kPage - 4, 'x');
  }
  file.replace(28, 4, big_endian(file.size() / kPage, 4));
  scratch_.write("shared.sqlite", file);
  const auto size = static_cast<std::int64_t>(file.size());
  // All rows would be eight times the file; two are read, and their names are in many tables.
  expect_memory("report", path, 20 * size);
  expect_memory("hta", path, 20 * size);
}

// Many events in one compressed packet of 8 MB, each with an argument; and many such packets.
TEST_F(Bomb, CompressedPacketsAreUnpackedSixteenAtATime) {
  using trace::testing::pbf_writer;
  using trace::testing::PerfettoBuilder;
  namespace pf = perfetto;
  PerfettoBuilder whole;
  whole.thread(1, 1, 1, "t");
  std::uint64_t time = 0;
  for (int i = 0; i < 40; ++i) {
    PerfettoBuilder inner;
    for (int j = 0; j < 4; ++j) {
      inner.event(1, ++time, [&](pbf_writer& event) {
        event.add_uint32(pf::track_event::kType, pf::track_event::kSliceBegin);
        event.add_uint64(pf::track_event::kTrackUuid, 1);
        event.add_string(pf::track_event::kName, "x");
        PerfettoBuilder::add(event, pf::track_event::kDebugAnnotations, [](pbf_writer& one) {
          one.add_string(pf::debug_annotation::kName, "a");
          one.add_string(pf::debug_annotation::kString, std::string(2 << 20, 'x'));
        });
      });
      inner.end(1, ++time);
    }
    std::string packed(compressBound(inner.bytes().size()), '\0');
    uLongf size = packed.size();
    compress(reinterpret_cast<Bytef*>(packed.data()), &size,
             reinterpret_cast<const Bytef*>(inner.bytes().data()), inner.bytes().size());
    packed.resize(size);
    whole.packet(
        [&](pbf_writer& packet) { packet.add_message(pf::packet::kCompressedPackets, packed); });
  }
  const std::string file = scratch_.write("packed.pftrace", whole.bytes());
  EXPECT_LT(std::filesystem::file_size(file), 1'000'000U);
  for (const char* command : {"report", "hta", "flame"}) {
    expect_memory(command, file, 17 * 16 * kMb);
  }
}

}  // namespace fathom::cli::hostile_memory_test
