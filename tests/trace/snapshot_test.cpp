#include "trace/read/snapshot/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "trace/corpus.h"
#include "trace/read.h"

namespace fathom::trace::snapshot_test {

using ::testing::HasSubstr;

// Writes pickles: just what a snapshot needs.
class Pickler {
 public:
  Pickler& begin(char opcode) {
    bytes_ += opcode;
    bytes_ += '(';
    return *this;
  }
  Pickler& end(char opcode) {
    bytes_ += opcode;
    return *this;
  }
  Pickler& text(const std::string& value) {
    bytes_ += "\x8C";
    bytes_ += static_cast<char>(value.size());
    bytes_ += value;
    return *this;
  }
  Pickler& integer(std::int64_t value) {
    bytes_ += "\x8A\x08";
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xFF);
    return *this;
  }
  Pickler& pair(const std::string& key, std::int64_t value) { return text(key).integer(value); }
  Pickler& pair(const std::string& key, const std::string& value) { return text(key).text(value); }

  Pickler& frame(const std::string& file, std::int64_t line, const std::string& name) {
    return begin('}').pair("filename", file).pair("line", line).pair("name", name).end('u');
  }
  Pickler& event(const std::string& action, std::int64_t address, std::int64_t size,
                 std::int64_t time_us) {
    return begin('}')
        .pair("action", action)
        .pair("addr", address)
        .pair("size", size)
        .pair("time_us", time_us)
        .text("frames")
        .begin(']')
        .frame("/x/site-packages/torch/nn/module.py", 5, "_call_impl")
        .frame("/home/me/train.py", 12, "step")
        .end('e')
        .end('u');
  }
  Pickler& block(std::int64_t size, std::int64_t asked, const std::string& state) {
    return begin('}')
        .pair("size", size)
        .pair("requested_size", asked)
        .pair("state", state)
        .end('u');
  }
  std::string whole() const { return "\x80\x04" + bytes_ + "."; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// At the end 1000 bytes of the first block, from before, and 500 of the third, from the trace.
std::string snapshot() {
  Pickler to;
  to.begin('}').text("segments").begin(']');
  to.begin('}').pair("device", 0).pair("address", 4096).pair("total_size", 4096).text("blocks");
  to.begin(']');
  to.block(1024, 1000, "active_allocated").block(1024, 900, "inactive");
  to.block(512, 500, "active_allocated").block(1536, 0, "inactive");
  to.end('e').end('u').end('e');
  to.text("device_traces").begin(']').begin(']');
  to.event("free_requested", 5120, 900, 10);
  to.event("free_completed", 5120, 900, 11);
  to.event("segment_alloc", 99999, 2048, 12);
  to.event("alloc", 6144, 500, 13);
  to.event("alloc", 99999, 2000, 14);
  to.event("free_completed", 99999, 2000, 15);
  to.event("segment_free", 99999, 2048, 16);
  to.event("oom", 0, 1 << 20, 17);
  to.end('e').end('e');
  to.text("external_annotations").begin(']');
  to.begin('}').pair("stage", "START").pair("name", "step").pair("device", 0).pair("time_us", 11);
  to.end('u').begin('}');
  to.pair("stage", "END").pair("name", "step").pair("device", 0).pair("time_us", 15).end('u');
  to.end('e').end('u');
  return to.whole();
}

Trace read(const std::string& bytes) {
  return read_snapshot(Input::from_bytes(bytes));
}

TEST(Snapshot, TotalsAreThoseOfTheAllocator) {
  const Trace trace = read(snapshot());
  std::vector<std::string> lines;
  for (const MemoryEvent& event : trace.memory) {
    lines.push_back(std::to_string(event.time_ns / 1000) + " " + std::to_string(event.bytes) + " " +
                    std::to_string(*event.address) + " " + std::to_string(*event.total_allocated) +
                    " " + std::to_string(*event.total_reserved));
  }
  EXPECT_THAT(lines, ::testing::ElementsAre("11 -900 5120 1000 4096", "13 500 6144 1500 6144",
                                            "14 2000 99999 3500 6144", "15 -2000 99999 1500 6144"));
  EXPECT_EQ(trace.run.format, "PyTorch memory snapshot");
  EXPECT_EQ(trace.run.base_time_ns, 0);
  EXPECT_TRUE(trace.warnings.empty());
}

TEST(Snapshot, SitesAreTheInnermostFrameOfTheUser) {
  const Trace trace = read(snapshot());
  ASSERT_EQ(trace.memory.size(), 4U);
  EXPECT_EQ(trace.names.view(trace.memory[0].site), "");
  EXPECT_EQ(trace.names.view(trace.memory[1].site), "train.py:12 step");
}

// One allocation with these frames, innermost first: file and name; all of line 7.
Trace allocated_by(const std::vector<std::pair<std::string, std::string>>& frames) {
  Pickler to;
  to.begin('}').text("device_traces").begin(']').begin(']').begin('}');
  to.pair("action", "alloc").pair("addr", 4096).pair("size", 8).pair("time_us", 1);
  to.text("frames").begin(']');
  for (const auto& [file, name] : frames) to.frame(file, 7, name);
  to.end('e').end('u').end('e').end('e').end('u');
  return read(to.whole());
}

std::string site_of(const std::vector<std::pair<std::string, std::string>>& frames) {
  const Trace trace = allocated_by(frames);
  return std::string(trace.names.view(trace.memory.at(0).site));
}

using Frames = std::vector<std::pair<std::string, std::string>>;

TEST(Snapshot, TheUsersOwnLineIsResponsibleNotALibrary) {
  const Frames to_the_user = {{"??", "at::_ops::mm::call(at::Tensor)"},
                              {"/v/lib/python3.12/site-packages/torch/functional.py", "einsum"},
                              {"/v/lib/python3.12/site-packages/einops/_backends.py", "einsum"},
                              {"/v/lib/python3.12/contextlib.py", "inner"},
                              {"<frozen runpy>.py", "run"},
                              {"/me/transformers/generation.py", "generate"},
                              {"/home/me/torch_things/model.py", "forward"},
                              {"/home/me/train.py", "main"}};
  EXPECT_EQ(site_of(to_the_user), "model.py:7 forward");
  const Frames in_libraries(to_the_user.begin(), to_the_user.begin() + 4);
  EXPECT_EQ(site_of(in_libraries), "_backends.py:7 einsum");
  EXPECT_EQ(site_of({{"??", "at::_ops::neg::redispatch(c10::DispatchKeySet)"},
                     {"F.cpp", "torch::autograd::generated::LogBackward0::apply(std::vector)"},
                     {"??", "torch::autograd::Engine::evaluate_function(int)"}}),
            "LogBackward0 · at::_ops::neg");
  EXPECT_EQ(site_of({{"??", "malloc"}}), "");
}

TEST(Snapshot, StacksAreKeptAndTellTheBackward) {
  const Trace forward = allocated_by({{"??", "at::_ops::mm::call(x)"},
                                      {"??", "at::_ops::mm::redispatch(x)"},
                                      {"/x/torch/nn/module.py", "_call_impl"},
                                      {"/home/me/model.py", "forward"}});
  ASSERT_EQ(forward.memory[0].stack, 1U);
  std::vector<std::string> frames;
  for (const NameId frame : forward.allocator.stacks.at(1).frames) {
    frames.emplace_back(forward.names.view(frame));
  }
  EXPECT_THAT(frames, ::testing::ElementsAre("at::_ops::mm", "me/model.py:7 forward"));
  EXPECT_FALSE(forward.allocator.stacks[1].is_backward);
  const Trace backward = allocated_by({{"??", "torch::autograd::Engine::evaluate_function(x)"}});
  EXPECT_TRUE(backward.allocator.stacks.at(backward.memory[0].stack).is_backward);
}

TEST(Snapshot, KnowsWhatIsOlderTheSegmentsAndWhatFailed) {
  const AllocatorHistory history = read(snapshot()).allocator;
  std::map<std::uint64_t, std::int64_t> older;
  for (const OlderBlock& block : history.older) older[block.address] = block.bytes;
  EXPECT_EQ(older, (std::map<std::uint64_t, std::int64_t>{{4096, 1000}, {5120, 900}}));
  ASSERT_EQ(history.segments.size(), 2U);
  EXPECT_EQ(history.segments[0].address, 4096U);
  EXPECT_EQ(history.segments[0].bytes, 4096);
  EXPECT_EQ(history.segments[1].begin_ns, 12'000);
  EXPECT_EQ(history.segments[1].end_ns, 16'000);
  ASSERT_EQ(history.failures.size(), 1U);
  EXPECT_EQ(history.failures[0].bytes, 1 << 20);
  EXPECT_FALSE(history.failures[0].device_free.has_value());
}

TEST(Snapshot, CountersAnnotationsAndMarks) {
  const Trace trace = read(snapshot());
  std::map<std::string, std::vector<double>> counters;
  for (const Counter& counter : trace.counters) {
    counters[std::string(trace.names.view(counter.name))] = counter.value;
  }
  EXPECT_EQ(counters["GPU 0 allocated"], (std::vector<double>{1900, 1000, 1500, 3500, 1500}));
  EXPECT_EQ(counters["GPU 0 reserved"], (std::vector<double>{4096, 6144, 4096}));
  EXPECT_EQ(counters["GPU 0 segments"], (std::vector<double>{1, 2, 1}));
  ASSERT_EQ(trace.spans.size(), 1U);
  EXPECT_EQ(trace.name(0), "step");
  EXPECT_EQ(trace.spans.kind[0], SpanKind::annotation);
  EXPECT_EQ(trace.spans.start_ns[0], 11'000);
  EXPECT_EQ(trace.spans.duration_ns[0], 4'000);
  ASSERT_EQ(trace.instants.size(), 1U);
  EXPECT_EQ(trace.names.view(trace.instants[0].name), "out of memory");
}

TEST(Snapshot, SegmentsAloneAreASnapshot) {
  Pickler to;
  to.begin(']').begin('}').pair("device", 1).pair("address", 4096).pair("total_size", 4096);
  to.text("blocks").begin(']').block(1024, 1000, "active_allocated").end('e').end('u').end('e');
  const Trace trace = read(to.whole());
  ASSERT_EQ(trace.memory.size(), 1U);
  EXPECT_EQ(trace.memory[0].device_index, 1);
  EXPECT_EQ(trace.memory[0].bytes, 1000);
  EXPECT_FALSE(trace.run.base_time_ns.has_value());
}

TEST(Snapshot, OfACutOffSnapshotTheEventsBeforeTheCutAreRead) {
  const std::string whole = snapshot();
  const std::size_t cut = whole.find("external_annotations") - 40;
  const Trace trace = read(whole.substr(0, cut));
  EXPECT_EQ(trace.memory.size(), 4U);
  EXPECT_EQ(trace.warnings.count(WarningKind::cut_off), 1U);
}

std::string error_of(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Snapshot, OtherPicklesAreRefusedAndNothingIsRun) {
  EXPECT_THAT(error_of("\x80\x02}."), HasSubstr("a pickle of a dict without segments"));
  EXPECT_THAT(error_of("\x80\x02]."), HasSubstr("a pickle of a list of other things"));
  EXPECT_THAT(error_of("\x80\x02K\x01."), HasSubstr("a pickle of a number"));
  EXPECT_THAT(error_of("cposix\nsystem\n(S'touch /tmp/x'\ntR."),
              HasSubstr("calls posix.system (nothing was run)"));
  EXPECT_THAT(error_of(snapshot().substr(0, 5)), HasSubstr("cut off at byte 5"));
}

// What Python's own unpickler finds in a snapshot: the same figures by other means.
constexpr const char* kScript = R"(
import json, pickle, re, sys
s = pickle.load(open(sys.argv[1], 'rb'))
out = []
for device, trace in enumerate(s['device_traces']):
    blocks = {}
    for segment in s['segments']:
        if segment['device'] == device:
            blocks |= {b['address']: b['requested_size'] for b in segment['blocks'] if b['state'].startswith('active')}
    start = sum(blocks.values())
    for e in trace:
        start -= e['size'] * {'alloc': 1, 'free_completed': -1}.get(e['action'], 0)
    now = peak = start
    sites = {}
    for e in trace:
        now += e['size'] * {'alloc': 1, 'free_completed': -1}.get(e['action'], 0)
        peak = max(peak, now)
        if e['action'] == 'alloc':
            library = ('/torch/', '/site-packages/', '/dist-packages/', 'lib/python3', '/einops/', '/transformers/')
            f = next((f for f in e['frames'] if f['filename'].endswith('.py') and not any(l in f['filename'] for l in library)), None)
            op = next((f for f in e['frames'] if f['name'].startswith('at::_ops::')), None)
            node = next((m for m in (re.match('torch::autograd::generated::([A-Za-z0-9]*Backward[0-9]*)', f['name']) for f in e['frames']) if m), None)
            names = ([node[1]] if node else []) + ([op['name'].split('::')[2]] if op else [])
            if f:
                site = f"{f['filename'].split('/')[-1]}:{f['line']} {f['name']}"
            elif names:
                site = ' · '.join(names[:-1] + ['at::_ops::' + names[-1]] if op else names)
            else:
                continue
            sites[site] = sites.get(site, 0) + e['size']
    out.append({'allocs': sum(e['action'] == 'alloc' for e in trace),
                'frees': sum(e['action'] == 'free_completed' for e in trace),
                'allocated': sum(e['size'] for e in trace if e['action'] == 'alloc'),
                'start': start, 'end': now, 'peak': peak, 'sites': sites,
                'reserved': sum(x['total_size'] for x in s['segments'] if x['device'] == device),
                'first_us': trace[0]['time_us'], 'last_us': max(e['time_us'] for e in trace if e['action'] == 'free_completed')})
print(json.dumps(out))
)";

// One event, in a list many times, and that list many times in the list of devices: few bytes that
// would be millions of events.
std::string shared_lists(int times) {
  const auto again = [&](const char* memo) {
    std::string refs;
    for (int i = 0; i < times; ++i) refs += memo;
    return refs;
  };
  Pickler event;
  event.event("alloc", 4096, 512, 1);
  return "\x80\x02}(\x8C\x0D"
         "device_traces](](" +
         event.bytes() + "q\x01" + again("h\x01") + "eq\x02" + again("h\x02") + "eu.";
}

TEST(Snapshot, ListsThatStandManyTimesAreRefusedInOneLine) {
  EXPECT_EQ(read(shared_lists(2)).memory.size(), 9U);
  try {
    read(shared_lists(4000));
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("it refers to the same lists many times"));
  }
}

TEST(Snapshot, HostileCorpusIsRefused) {
  const std::optional<std::string> path = corpus_file("hostile/p_shared_4k.pickle");
  if (!path) GTEST_SKIP() << "no corpus";
  EXPECT_THROW(read_trace(*path), base::Error);
}

TEST(Snapshot, AnnotationsOfOneNameNestAndEndInTheirOrder) {
  Pickler to;
  to.begin('}').text("segments").begin(']').end('e').text("external_annotations").begin(']');
  const auto mark = [&](const char* stage, const char* name, std::int64_t time_us) {
    to.begin('}').pair("stage", stage).pair("name", name).pair("device", 0);
    to.pair("time_us", time_us).end('u');
  };
  mark("START", "a", 1);
  mark("START", "b", 2);
  mark("START", "a", 3);
  mark("END", "a", 4);
  mark("END", "a", 6);
  mark("END", "a", 7);
  to.end('e').end('u');
  const Trace trace = read(to.whole());
  ASSERT_EQ(trace.spans.size(), 2U);
  EXPECT_EQ(trace.spans.duration_ns[0], 5000);
  EXPECT_EQ(trace.spans.duration_ns[1], 1000);
  EXPECT_EQ(trace.warnings.count(WarningKind::unmatched_end), 1U);
  EXPECT_EQ(trace.warnings.count(WarningKind::unmatched_begin), 1U);
}

TEST(Snapshot, CorpusAgreesWithPythonsOwnUnpickler) {
  const auto files = corpus_files({"snapshots", "expert"}, ".pickle");
  if (files.empty()) GTEST_SKIP() << "no corpus";
  if (std::system("python3 -c pass 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
  for (const std::string& file : files) {
    FILE* python = popen(("python3 - '" + file + "' <<'END'\n" + kScript + "\nEND").c_str(), "r");
    std::string text;
    for (int c = fgetc(python); c != EOF; c = fgetc(python)) text += static_cast<char>(c);
    ASSERT_EQ(pclose(python), 0);
    const auto expected = nlohmann::json::parse(text).at(0);

    const Trace trace = read_trace(file);
    EXPECT_TRUE(trace.warnings.empty());
    std::int64_t allocs = 0;
    std::int64_t frees = 0;
    std::int64_t allocated = 0;
    const std::int64_t start = *trace.memory.front().total_allocated - trace.memory.front().bytes;
    std::int64_t peak = start;
    std::map<std::string, std::int64_t> sites;
    for (const MemoryEvent& event : trace.memory) {
      peak = std::max(peak, *event.total_allocated);
      ++(event.bytes > 0 ? allocs : frees);
      if (event.bytes <= 0) continue;
      allocated += event.bytes;
      const std::string site(trace.names.view(event.site));
      if (!site.empty()) sites[site] += event.bytes;
    }
    EXPECT_EQ(allocs, expected["allocs"]);
    EXPECT_EQ(frees, expected["frees"]);
    EXPECT_EQ(allocated, expected["allocated"]);
    EXPECT_EQ(start, expected["start"]);
    EXPECT_EQ(peak, expected["peak"]);
    EXPECT_EQ(*trace.memory.back().total_allocated, expected["end"]);
    EXPECT_EQ(*trace.memory.back().total_reserved, expected["reserved"]);
    EXPECT_EQ(nlohmann::json(sites), expected["sites"]);
    EXPECT_EQ(trace.memory.front().time_ns, expected["first_us"].get<std::int64_t>() * 1000);
    EXPECT_EQ(trace.memory.back().time_ns, expected["last_us"].get<std::int64_t>() * 1000);
  }
}

}  // namespace fathom::trace::snapshot_test
