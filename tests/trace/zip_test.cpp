#include "trace/read/zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "deflated.h"
#include "trace/read.h"
#include "trace/trace_lines.h"

namespace fathom::trace::zip_test {

using ::testing::HasSubstr;

constexpr const char* kTrace =
    R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1},{"ph":"X","name":"b","pid":1,"tid":1,"ts":3,"dur":1}])";

std::string little_endian(std::uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

class Archive {
 public:
  Archive& add(const std::string& name, const std::string& text, int method = 8, int flags = 0) {
    const std::string packed = method == 8 ? deflated(text, kBareBits) : text;
    const std::string common = little_endian(20, 2) + little_endian(flags, 2) +
                               little_endian(method, 2) + little_endian(0, 8) +
                               little_endian(packed.size(), 4) + little_endian(text.size(), 4) +
                               little_endian(name.size(), 2) + little_endian(0, 2);
    directory_ += "PK\x01\x02" + little_endian(20, 2) + common + little_endian(0, 10) +
                  little_endian(bytes_.size(), 4) + name;
    bytes_ += "PK\x03\x04" + common + name + packed;
    return *this;
  }
  std::string whole(const std::string& comment = "") const {
    return bytes_ + directory_ + "PK\x05\x06" + little_endian(0, 8) +
           little_endian(directory_.size(), 4) + little_endian(bytes_.size(), 4) +
           little_endian(comment.size(), 2) + comment;
  }

 private:
  std::string bytes_;
  std::string directory_;
};

Trace read(const std::string& bytes) {
  const testing::TemporaryFile file("trace.zip");
  std::ofstream(file.path(), std::ios::binary) << bytes;
  return read_trace(file.path());
}

void expect_refused(const std::string& bytes, const std::string& mentions) {
  try {
    read(bytes);
    ADD_FAILURE() << mentions;
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(mentions));
    EXPECT_THAT(error.what(), HasSubstr("trace.zip"));
  }
}

TEST(Zip, TheOneTraceInItIsRead) {
  EXPECT_EQ(read(Archive().add("trace.json", kTrace).whole()).spans.size(), 2U);
  EXPECT_EQ(read(Archive().add("trace.json", kTrace, 0).whole("a comment")).spans.size(), 2U);
  const Trace within_folder = read(Archive()
                                       .add("traces/", "", 0)
                                       .add("traces/trace.json", kTrace)
                                       .add("__MACOSX/traces/._trace.json", "x", 0)
                                       .whole());
  EXPECT_EQ(within_folder.spans.size(), 2U);
  EXPECT_EQ(within_folder.args(0), "");
}

TEST(Zip, WhatIsPackedInItIsUnpackedToo) {
  const std::string gzip = deflated(kTrace);
  EXPECT_EQ(read(Archive().add("trace.json.gz", gzip, 0).whole()).spans.size(), 2U);
}

TEST(Zip, OfSeveralFilesSaysWhichTheyAre) {
  expect_refused(Archive().add("rank0.json", kTrace).add("rank1.json", kTrace).whole(),
                 "2 files (rank0.json, rank1.json); Fathom reads archives with one. Unpack it"
                 " and name a file");
  Archive many;
  for (int i = 0; i < 9; ++i) many.add(std::to_string(i), "x", 0);
  expect_refused(many.whole(), "9 files (0, 1, 2, 3, 4, …)");
}

TEST(Zip, ThatCannotBeReadIsRefusedInOneLine) {
  const std::string whole = Archive().add("trace.json", kTrace).whole();
  expect_refused(whole.substr(0, whole.size() - 30), "cut off or damaged");
  expect_refused(Archive().add("trace.json", kTrace, 8, 1).whole(), "password");
  expect_refused(Archive().add("trace.json", kTrace, 12).whole(),
                 "an unsupported compression method");
  expect_refused(Archive().add("photo.png", "\x89PNG\r\n", 0).whole(), "PNG image");
  expect_refused(Archive().add("empty.json", "", 0).whole(), "empty");
}

TEST(Zip, OfADamagedTraceWhatCanBeUnpackedIsRead) {
  std::string long_trace = "[";
  for (int i = 0; i < 5000; ++i) {
    long_trace += R"({"ph":"X","name":"k)" + std::to_string(i * 7919 % 5000) +
                  R"(","pid":1,"tid":1,"dur":1,"ts":)" + std::to_string(i * 3) + "},";
  }
  std::string bytes = Archive().add("trace.json", long_trace + "null]").whole();
  for (std::size_t i = 0; i < 64; ++i) bytes[bytes.size() / 2 + i] = '\xFF';
  const Trace trace = read(bytes);
  EXPECT_GT(trace.spans.size(), 100U);
  EXPECT_LT(trace.spans.size(), 5000U);
  EXPECT_EQ(trace.warnings.count(WarningKind::damaged_packing), 1U);
}

}  // namespace fathom::trace::zip_test
