#include "trace/read/nsys/nsys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "trace/sqlite_file.h"

namespace fathom::trace::nsys_test {

using ::testing::HasSubstr;
using testing::sqlite_file;

// Process 7 with thread 8, and process 9, as Nsight Systems writes them.
constexpr const char* kExport = R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'void scale<float>(float*)'), (2, 'scale'),
  (3, 'cudaLaunchKernel_v7000'), (4, 'cuGraphLaunch_v2'), (5, 'worker'), (6, 'registered');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER, shortName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER,
  blockX INTEGER, blockY INTEGER, blockZ INTEGER, registersPerThread INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (1000, 1500, 0, 1, 7, 11, 7 << 24, 1, 2, 4, 2, 1, 128, 1, 1, 32),
  (1200, 1900, 1, 1, 7, 11, 9 << 24, 99, 2, 1, 1, 1, 64, 1, 1, 16),
  (2000, 2100, 0, 1, 7, 12, 9 << 24, 1, 2, 1, 1, 1, 64, 1, 1, 16);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER,
  copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3000, 3500, 0, 1, 7, 13, 7 << 24, 4096, 1, 1, 2);
CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0, '', 'Pageable'), (1, '', 'Pinned'), (2, '', 'Device');
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES
  (1800, 1950, 0, 1, 7, 14, 9 << 24, 3), (1, 2, 0, 1, 4294967295, 15, 9 << 24, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (900, 950, (7 << 24) + 8, 11, 3, 0),
  (1100, 1150, (9 << 24) + 9, 11, 4, 700), (50, 40, (9 << 24) + 9, 16, 3, 0);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,
  globalTid INTEGER, textId INTEGER);
INSERT INTO NVTX_EVENTS VALUES (800, 990, 59, 'aten::mul, seq = 5, op_id = 77', (7 << 24) + 8, NULL),
  (700, 995, 59, 'step', (7 << 24) + 8, NULL), (710, 720, 60, NULL, (7 << 24) + 8, 6),
  (730, NULL, 34, 'mark', (7 << 24) + 8, NULL), (740, NULL, 60, 'open', (7 << 24) + 8, NULL),
  (0, NULL, 75, 'a domain', (7 << 24) + 8, NULL);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
INSERT INTO PROCESSES VALUES (7 << 24, 7, 'train'), (9 << 24, 9, 'other');
CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);
INSERT INTO ThreadNames VALUES (5, 20, (7 << 24) + 8);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES (5, 'H100', 80000000000, 132), (6, 'A100', 0, NULL);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);
INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (5, 0, 7), (6, 1, 9);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, systemClockNs INTEGER);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000100, 100);
CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ARGUMENT_1', '-v'), ('PROCESS_0:COMMAND', 'train'),
  ('PROCESS_0:ARGUMENT_0', 'x.py'), ('PROCESS_0:ENVIRONMENT_VARIABLE', 'SECRET="1"');
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER,
  address INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER);
INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (10, 7 << 24, 0, 4096, 512, 2, 0),
  (20, 7 << 24, 0, 8192, 64, 1, 0), (30, 7 << 24, 0, 4096, 512, 2, 1);
CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, metricId INTEGER, metricName TEXT);
INSERT INTO TARGET_INFO_GPU_METRICS VALUES (257, 3, 'SM Active');
CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER);
INSERT INTO GPU_METRICS VALUES (5, 257, 3, 80), (15, 257, 3, 90);
)";

Trace read(const std::string& file) {
  return read_nsys(Input::from_bytes(file));
}

// "GPU 0/stream 7: name kind start+duration", one line per span, sorted by track and time.
std::vector<std::string> lines_of(const Trace& trace) {
  std::vector<std::string> lines;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    const Track& track = trace.tracks[trace.spans.track[id]];
    lines.push_back(track.process_name + "/" + track.thread_name + ": " +
                    std::string(trace.name(id)) + " " + std::string(name_of(trace.spans.kind[id])) +
                    " " + std::to_string(trace.spans.start_ns[id]) + "+" +
                    std::to_string(trace.spans.duration_ns[id]));
  }
  return lines;
}

SpanId span_at(const Trace& trace, std::int64_t start_ns) {
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    if (trace.spans.start_ns[id] == start_ns) return id;
  }
  return kNoSpan;
}

TEST(Nsys, RowsAreSpansOfStreamsAndThreads) {
  EXPECT_THAT(
      lines_of(read(sqlite_file(kExport))),
      ::testing::UnorderedElementsAre(
          "train/worker: step annotation 700+295", "train/worker: aten::mul cpu_op 800+190",
          "train/worker: cudaLaunchKernel runtime_call 900+50",
          "other/: cuGraphLaunch_v2 runtime_call 1100+50",
          "train/worker: registered annotation 710+10", "train/worker: open unfinished 740+2760",
          "GPU 0/stream 7: void scale<float>(float*) kernel 1000+500",
          "GPU 0/stream 7: Memcpy HtoD (Pinned -> Device) copy 3000+500",
          "GPU 0 · process 9/stream 7: void scale<float>(float*) kernel 2000+100",
          "GPU 1/stream 7: scale kernel 1200+700", "GPU 1/stream 7: Stream Sync sync 1800+150",
          "GPU 1/no stream: Event Sync sync 1+1"));
}

TEST(Nsys, ProcessesDoNotShareCorrelations) {
  const Trace trace = read(sqlite_file(kExport));
  const auto correlation = [&](std::int64_t start) {
    return trace.spans.correlation[span_at(trace, start)];
  };
  EXPECT_EQ(correlation(1000), 11);
  EXPECT_EQ(correlation(1000), correlation(900));
  EXPECT_EQ(correlation(1200), correlation(1100));
  EXPECT_NE(correlation(1000), correlation(1200));
  EXPECT_EQ(correlation(700), kNoCorrelation);
}

TEST(Nsys, WithoutProcessesOnTheGpuSideCorrelationsAreThoseOfTheFile) {
  const Trace trace = read(sqlite_file(R"(
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, correlationId INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 5);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 3 << 24, 5);)"));
  ASSERT_EQ(trace.spans.size(), 2U);
  EXPECT_EQ(trace.spans.correlation[0], 5);
  EXPECT_EQ(trace.spans.correlation[1], 5);
}

TEST(Nsys, WhatElseARowSaysIsInTheArguments) {
  const Trace trace = read(sqlite_file(kExport));
  EXPECT_EQ(trace.names.view(trace.spans.shape[span_at(trace, 1000)]), "grid 4x2x1, block 128x1x1");
  EXPECT_EQ(trace.spans.shape[span_at(trace, 3000)], 0U);
  EXPECT_EQ(nlohmann::json::parse(trace.args(span_at(trace, 1000))),
            nlohmann::json::parse(R"({"contextId": 1, "short name": "scale", "grid": [4, 2, 1],
                                      "block": [128, 1, 1], "registers per thread": 32})"));
  EXPECT_EQ(trace.args(span_at(trace, 800)), R"({"text":"aten::mul, seq = 5, op_id = 77"})");
  EXPECT_EQ(trace.args(span_at(trace, 1100)), R"({"returnValue":700})");
}

TEST(Nsys, BytesMarksMemoryAndMetrics) {
  const Trace trace = read(sqlite_file(kExport));
  ASSERT_EQ(trace.bytes.size(), 1U);
  EXPECT_EQ(trace.bytes[0].span, span_at(trace, 3000));
  EXPECT_EQ(trace.bytes[0].bytes, 4096);
  ASSERT_EQ(trace.instants.size(), 1U);
  EXPECT_EQ(trace.names.view(trace.instants[0].name), "mark");
  ASSERT_EQ(trace.memory.size(), 3U);
  EXPECT_EQ(trace.memory[0].bytes, 512);
  EXPECT_EQ(trace.memory[0].address, 4096U);
  EXPECT_EQ(trace.memory[0].device, MemoryDevice::gpu);
  EXPECT_EQ(trace.memory[1].device, MemoryDevice::cpu);
  EXPECT_EQ(trace.memory[2].bytes, -512);
  ASSERT_EQ(trace.counters.size(), 1U);
  EXPECT_EQ(trace.names.view(trace.counters[0].name), "SM Active");
  EXPECT_EQ(trace.counters[0].value, (std::vector<double>{80, 90}));
}

TEST(Nsys, TheRunAndItsGpus) {
  const RunInfo run = read(sqlite_file(kExport)).run;
  EXPECT_EQ(run.format, "Nsight Systems");
  EXPECT_EQ(run.command, "train x.py -v");
  EXPECT_EQ(run.base_time_ns, 1'700'000'000'000'000'000);
  ASSERT_EQ(run.devices.size(), 2U);
  EXPECT_EQ(run.devices[0].id, 0);
  EXPECT_EQ(run.devices[0].name, "H100");
  EXPECT_EQ(run.devices[0].memory_bytes, 80'000'000'000);
  EXPECT_EQ(run.devices[0].multiprocessors, 132);
  EXPECT_FALSE(run.devices[1].memory_bytes.has_value());
}

TEST(Nsys, RowsThatMakeNoSenseAreCounted) {
  const Trace trace = read(sqlite_file(kExport));
  EXPECT_EQ(trace.warnings.count(WarningKind::negative_duration), 1U);
  EXPECT_EQ(trace.warnings.count(WarningKind::unmatched_begin), 1U);
  EXPECT_EQ(trace.warnings.all().size(), 2U);
  EXPECT_EQ(describe(trace.warnings.all()[0]), "1 event with a negative duration");
}

std::string error_of(const std::string& file) {
  try {
    read(file);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Nsys, OtherDatabasesAreRefused) {
  EXPECT_THAT(error_of(sqlite_file("CREATE TABLE users (id INTEGER)")),
              HasSubstr("SQLite database without the tables of an Nsight Systems export"));
  EXPECT_THAT(error_of(sqlite_file("CREATE TABLE StringIds (id INTEGER, value TEXT);"
                                   "CREATE VIEW NVTX_EVENTS AS SELECT 1 AS start, 2 AS end")),
              HasSubstr("without the tables"));
  EXPECT_THAT(error_of(sqlite_file(kExport).substr(0, 50)), HasSubstr("cut off"));
  EXPECT_THAT(error_of(sqlite_file(kExport).substr(0, 1000)), HasSubstr("cut off"));
}

TEST(Nsys, OfACutOffExportTheTablesBeforeTheCutAreRead) {
  std::string rows = kExport;
  for (int i = 0; i < 20000; ++i) {
    rows += "INSERT INTO GPU_METRICS VALUES (" + std::to_string(100 + i) + ", 257, 3, 1);";
  }
  const std::string file = sqlite_file("BEGIN;" + rows + "COMMIT;");
  const Trace trace = read(file.substr(0, file.size() - file.size() / 4));
  EXPECT_EQ(trace.spans.size(), 12U);
  EXPECT_GT(trace.counters.at(0).value.size(), 10'000U);
  EXPECT_LT(trace.counters.at(0).value.size(), 20'002U);
  EXPECT_EQ(trace.warnings.count(WarningKind::cut_off), 1U);
  EXPECT_EQ(trace.warnings.count(WarningKind::damaged_table), 1U);
}

// Exports may leave out the name of an overhead, or have another word for it.
TEST(Nsys, AFullCommandBufferIsToldByTheTypeOfTheOverhead) {
  const Trace trace = read(sqlite_file(std::string(kExport) + R"(
CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER,
  correlationId INTEGER, overheadType INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (910, 940, (7 << 24) + 8, 11, 8),
  (960, 970, (7 << 24) + 8, 12, 3);
)"));
  std::vector<std::string> names;
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    if (trace.spans.kind[id] == SpanKind::overhead) names.emplace_back(trace.name(id));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"Command Buffer Full", ""}));
}

TEST(Nsys, ADatabaseInWriteAheadModeIsRead) {
  std::string file = sqlite_file(kExport);
  file[18] = file[19] = 2;
  EXPECT_EQ(read(file).spans.size(), 12U);
}

}  // namespace fathom::trace::nsys_test
