// Real exports against what SQL says of them.

#include <gtest/gtest.h>

#include <map>

#include "trace/corpus.h"
#include "trace/read.h"
#include "trace/sqlite_file.h"

namespace fathom::trace::nsys_corpus_test {

using testing::ask;
using testing::ask_pairs;

// Count and total of the spans of a kind, "calls total_ns", by a key.
template <typename Key>
std::map<std::string, std::string> totals(const Trace& trace, SpanKind kind, const Key& key) {
  std::map<std::string, std::pair<std::uint64_t, std::int64_t>> sums;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    if (trace.spans.kind[id] != kind) continue;
    auto& [calls, total] = sums[key(id)];
    ++calls;
    total += trace.spans.duration_ns[id];
  }
  std::map<std::string, std::string> text;
  for (const auto& [name, sum] : sums) {
    text[name] = std::to_string(sum.first) + " " + std::to_string(sum.second);
  }
  return text;
}

class NsysCorpus : public ::testing::Test {
 protected:
  void SetUp() override {
    files_ = corpus_files({"nsys", "expert"}, ".sqlite");
    if (files_.empty()) GTEST_SKIP() << "no corpus";
  }
  std::vector<std::string> files_;
};

TEST_F(NsysCorpus, KernelsByNameAndByStream) {
  for (const std::string& file : files_) {
    const Trace trace = read_trace(file);
    EXPECT_TRUE(trace.warnings.empty());
    const auto name = [&](SpanId id) { return std::string(trace.name(id)); };
    EXPECT_EQ(totals(trace, SpanKind::kernel, name),
              ask_pairs(file,
                        "SELECT s.value, count(*) || ' ' || sum(k.end - k.start) FROM "
                        "CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName "
                        "GROUP BY s.value"));
    const auto stream = [&](SpanId id) {
      const Track& track = trace.tracks[trace.spans.track[id]];
      return std::to_string(track.device.value()) + "/" + std::to_string(track.stream.value());
    };
    EXPECT_EQ(totals(trace, SpanKind::kernel, stream),
              ask_pairs(file,
                        "SELECT deviceId || '/' || streamId, count(*) || ' ' || sum(end - start) "
                        "FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY deviceId, streamId"));
  }
}

TEST_F(NsysCorpus, CallsByNameWithoutTheirVersion) {
  for (const std::string& file : files_) {
    const Trace trace = read_trace(file);
    const auto name = [&](SpanId id) { return std::string(trace.name(id)); };
    EXPECT_EQ(totals(trace, SpanKind::runtime_call, name),
              ask_pairs(file,
                        "SELECT CASE WHEN s.value GLOB '*_v[0-9][0-9][0-9][0-9]*' THEN "
                        "substr(s.value, 1, length(rtrim(s.value, '0123456789')) - 2) "
                        "ELSE s.value END, count(*) || ' ' || sum(r.end - r.start) FROM "
                        "CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId "
                        "GROUP BY 1"));
  }
}

TEST_F(NsysCorpus, OperatorsAndRanges) {
  for (const std::string& file : files_) {
    const Trace trace = read_trace(file);
    const auto name = [&](SpanId id) { return std::string(trace.name(id)); };
    // Every operator ends in ", op_id = N", some with ", seq = N" before.
    EXPECT_EQ(totals(trace, SpanKind::cpu_op, name),
              ask_pairs(file,
                        "SELECT CASE WHEN instr(text, ', seq = ') > 0 THEN "
                        "substr(text, 1, instr(text, ', seq = ') - 1) ELSE "
                        "substr(text, 1, instr(text, ', op_id = ') - 1) END, "
                        "count(*) || ' ' || sum(end - start) FROM NVTX_EVENTS "
                        "WHERE text LIKE '%, op_id = %' GROUP BY 1"));
    EXPECT_EQ(totals(trace, SpanKind::annotation, name),
              ask_pairs(file,
                        "SELECT s.value, count(*) || ' ' || sum(n.end - n.start) FROM NVTX_EVENTS "
                        "n JOIN StringIds s ON s.id = n.textId GROUP BY 1"));
  }
}

TEST_F(NsysCorpus, CopiesFillsAndWaiting) {
  for (const std::string& file : files_) {
    const Trace trace = read_trace(file);
    std::map<std::string, std::string> expected;
    std::int64_t copied = 0;
    for (const SpanBytes& item : trace.bytes) copied += item.bytes;
    EXPECT_EQ(std::to_string(copied),
              ask(file,
                  "SELECT (SELECT sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY) + "
                  "(SELECT sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMSET)")[0][0]);
    const auto all = [](SpanId) { return std::string("all"); };
    const auto count = [&](const std::string& table) {
      return ask_pairs(file, "SELECT 'all', count(*) || ' ' || sum(end - start) FROM " + table +
                                 " HAVING count(*) > 0");  // a table may be empty
    };
    EXPECT_EQ(totals(trace, SpanKind::copy, all), count("CUPTI_ACTIVITY_KIND_MEMCPY"));
    EXPECT_EQ(totals(trace, SpanKind::fill, all), count("CUPTI_ACTIVITY_KIND_MEMSET"));
    EXPECT_EQ(totals(trace, SpanKind::sync, all), count("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"));
    // The profiler's own time, and that of the driver's queues, which only some exports have.
    std::string overheads = "SELECT start, end FROM PROFILER_OVERHEAD";
    const auto of_cupti =
        "SELECT count(*) FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_OVERHEAD'";
    if (ask(file, of_cupti)[0][0] != "0") {
      overheads += " UNION ALL SELECT start, end FROM CUPTI_ACTIVITY_KIND_OVERHEAD";
    }
    EXPECT_EQ(totals(trace, SpanKind::overhead, all), count("(" + overheads + ")"));
  }
}

TEST_F(NsysCorpus, LaunchesMeetTheirKernels) {
  for (const std::string& file : files_) {
    const Trace trace = read_trace(file);
    std::map<std::int64_t, std::int64_t> pid_of_call;
    for (SpanId id = 0; id < trace.spans.size(); ++id) {
      if (trace.spans.kind[id] == SpanKind::runtime_call) {
        pid_of_call[trace.spans.correlation[id]] = trace.tracks[trace.spans.track[id]].pid;
      }
    }
    std::uint64_t launched = 0;
    for (SpanId id = 0; id < trace.spans.size(); ++id) {
      if (trace.spans.kind[id] != SpanKind::kernel) continue;
      launched += pid_of_call.contains(trace.spans.correlation[id]) ? 1 : 0;
    }
    EXPECT_EQ(
        std::to_string(launched),
        ask(file,
            "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE (correlationId, globalPid >> "
            "24) "
            "IN (SELECT correlationId, globalTid >> 24 FROM CUPTI_ACTIVITY_KIND_RUNTIME)")[0][0]);
  }
}

}  // namespace fathom::trace::nsys_corpus_test
