#include "analyze/compile/compile_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analyze/compile/compile_findings.h"
#include "analyze/compile/fusion.h"
#include "analyze/compile/graph_break.h"
#include "trace/corpus.h"

namespace fathom::analyze::compile_log_test {

using nlohmann::json;

// A record as torch writes it, with its payload below.
std::string record(const std::string& json_text, const std::string& payload = "") {
  std::string text = "V0721 16:11:55.958000 98102 torch/_dynamo/utils.py:1900] " + json_text + "\n";
  std::istringstream lines(payload);
  for (std::string line; std::getline(lines, line);) text += "\t" + line + "\n";
  return text;
}

std::string id(int frame, int version) {
  return R"("frame_id": )" + std::to_string(frame) + R"(, "frame_compile_id": )" +
         std::to_string(version) + R"(, "attempt": 0)";
}

std::string metrics(int frame, int version, const std::string& fields) {
  return record(R"({"compilation_metrics": {"co_name": "f", "co_filename": "/me/model.py", )"
                R"("co_firstlineno": 7, )" +
                fields + "}, " + id(frame, version) + "}");
}

std::string artifact(int frame, int version, const std::string& name, const std::string& payload) {
  return record(R"({"artifact": {"name": ")" + name + R"(", "encoding": "string"}, )" +
                    id(frame, version) + "}",
                payload);
}

TEST(CompileLog, PhasesOfEveryEraAddUpToTheTime) {
  for (
      const char* const fields :
      {R"("entire_frame_compile_time_s": 1.5, "backend_compile_time_s": 1.25, "inductor_compile_time_s": 1)",
       R"("dynamo_cumulative_compile_time_us": 1500000, "aot_autograd_cumulative_compile_time_us": 1250000, )"
       R"("inductor_cumulative_compile_time_us": 1000000)"}) {
    const CompileLog log = read_compile_log(metrics(0, 0, fields), "a.log");
    ASSERT_EQ(log.compilations.size(), 1U);
    const Compilation& one = log.compilations[0];
    EXPECT_EQ(one.total_ns, 1'500'000'000);
    EXPECT_EQ(one.phases[0], 250'000'000);
    EXPECT_EQ(one.phases[1], 250'000'000);
    EXPECT_EQ(one.phases[2], 1'000'000'000);
    EXPECT_EQ(one.function, "f");
    EXPECT_EQ(one.first_line, 7);
  }
}

TEST(CompileLog, WhatIsNotLoggedIsAbsent) {
  const CompileLog log = read_compile_log(metrics(0, 0, R"("guard_count": null)"), "a.log");
  ASSERT_EQ(log.compilations.size(), 1U);
  EXPECT_FALSE(log.compilations[0].total_ns);
  EXPECT_FALSE(log.compilations[0].guards);
  EXPECT_FALSE(log.compilations[0].phases[0]);
  EXPECT_FALSE(log.compilations[0].fusion);
  EXPECT_FALSE(log.rank);
  EXPECT_EQ(short_place("/home/me/model.py", 41), "model.py:41");
  EXPECT_EQ(short_place("/home/me/model.py", {}), "model.py") << "rather than line 0";
}

TEST(CompileLog, EventsTellTheTimeWhereMetricsDoNot) {
  const auto event = [](const char* name, const char* phase, const char* time) {
    return record(R"({"chromium_event": {}, )" + id(0, 0) + "}",
                  std::string(R"({"name": ")") + name + R"(", "ts": )" + time + R"(, "ph": ")" +
                      phase + "\"}");
  };
  const CompileLog log = read_compile_log(
      event("dynamo", "B", "1000.5") + event("backend_compile", "B", "1200") +
          event("backend_compile", "B", "1250") + event("backend_compile", "E", "1300") +
          event("backend_compile", "E", "1700") + event("dynamo", "E", "2000.5"),
      "a.log");
  ASSERT_EQ(log.compilations.size(), 1U);
  EXPECT_EQ(log.compilations[0].total_ns, 1'000'000);
  EXPECT_EQ(log.compilations[0].phases[1], 500'000);  // one within another counts once
}

TEST(CompileLog, AnIdThatIsUsedAgainIsAnotherCompilation) {
  const std::string start = record(R"({"dynamo_start": {"stack": []}, )" + id(0, 0) + "}");
  const CompileLog log = read_compile_log(
      start + metrics(0, 0, R"("duration_us": 5)") + start + metrics(0, 0, R"("duration_us": 7)"),
      "a.log");
  ASSERT_EQ(log.compilations.size(), 2U);
  EXPECT_EQ(log.compilations[0].total_ns, 5000);
  EXPECT_EQ(log.compilations[1].total_ns, 7000);
}

TEST(CompileLog, RecompilationsNameTheGuardThatFailed) {
  CompileFindings found = compile_findings({read_compile_log(
      metrics(0, 0, R"("duration_us": 5)") +
          artifact(0, 1, "recompile_reasons",
                   R"(["0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3"])") +
          metrics(0, 1, R"("duration_us": 7, "cache_size": 1)"),
      "a.log")});
  EXPECT_EQ(found.recompiles, 1U);
  ASSERT_EQ(found.recompile_groups.size(), 1U);
  EXPECT_EQ(found.recompile_groups[0].times, 1U);
  EXPECT_EQ(found.recompile_groups[0].total_ns, 7000);
  EXPECT_EQ(found.recompile_groups[0].place, "model.py:7");
  EXPECT_EQ(found.recompile_groups[0].reasons[0],
            "tensor 'x' size mismatch at index 0. expected 2, actual 3");
  EXPECT_NE(found.recompile_groups[0].advice.find("dynamic=True"), std::string::npos);
}

TEST(CompileLog, GraphBreaksHaveReasonPlaceAndStack) {
  const GraphBreak found = parse_graph_break(
      "Graph break in user code at /me/train.py:31\n"
      "Graph Break Reason: Unsupported Tensor.item() call with capture_scalar_outputs=False\n"
      "  Explanation: Dynamo does not support it.\n"
      "  Hint: Set `torch._dynamo.config.capture_scalar_outputs = True`.\n\n"
      "User code traceback:\n"
      "  File \"/me/train.py\", line 90, in main\n    step(x)\n"
      "  File \"/me/train.py\", line 31, in step\n    if loss.item() > 3:\n\n"
      "Traceback (most recent call last):\n"
      "  File \"/torch/_dynamo/symbolic_convert.py\", line 1, in inner\n");
  EXPECT_EQ(found.where, "at train.py:31");
  EXPECT_EQ(found.reason, "Unsupported Tensor.item() call with capture_scalar_outputs=False");
  EXPECT_EQ(found.hint, "Set `torch._dynamo.config.capture_scalar_outputs = True`.");
  ASSERT_EQ(found.stack.size(), 2U);
  EXPECT_EQ(found.stack[1].function, "step");
  EXPECT_EQ(found.stack[1].line, 31);
  EXPECT_EQ(found.stack[1].code, "if loss.item() > 3:");
}

// The form of 2025 for a frame that cannot be resumed.
TEST(CompileLog, AFrameThatIsLeftToPythonNamesWhatWasRaised) {
  const GraphBreak found = parse_graph_break(
      "Graph break: torch.compile cannot properly resume from this graph break, which results in a "
      "skip.\ntorch.compile will skip tracing the frame f (/me/a.py line 3) and fall back to "
      "eager.\n"
      "The graph break occurred in the following user code:\n"
      "  File \"/me/a.py\", line 5, in f\n    with lock:\n\n"
      "Traceback (most recent call last):\n"
      "  File \"/torch/_dynamo/convert_frame.py\", line 1, in inner\n    step()\n"
      "torch._dynamo.exc.Unsupported: Unsupported context manager\n"
      "  Explanation: it is not known.\n  Hint: Avoid it.\n\n");
  EXPECT_EQ(found.reason, "Unsupported: Unsupported context manager");
  EXPECT_EQ(found.where, "at a.py:5");
  EXPECT_EQ(found.hint, "Avoid it.");
  ASSERT_EQ(found.stack.size(), 1U);
}

TEST(CompileLog, OneReasonAloneIsLoggedWithoutAList) {
  const CompileLog log =
      read_compile_log(artifact(0, 1, "recompile_reasons", "0/0: tensor 'x' dtype mismatch") +
                           metrics(0, 1, R"("cache_size": 1)"),
                       "a.log");
  ASSERT_EQ(log.compilations.size(), 1U);
  EXPECT_EQ(log.compilations[0].recompile_reasons,
            std::vector<std::string>{"0/0: tensor 'x' dtype mismatch"});
}

TEST(CompileLog, RestartsOfNewerVersionsAreNoGraphBreaks) {
  const CompileLog log = read_compile_log(
      metrics(0, 0,
              R"("restart_reasons": ["specialized x"], "dynamo_cumulative_compile_time_us": 5)"),
      "a.log");
  ASSERT_EQ(log.compilations.size(), 1U);
  EXPECT_TRUE(log.compilations[0].breaks.empty());
  EXPECT_EQ(log.compilations[0].restart_reasons.size(), 1U);
}

TEST(CompileLog, AnErrorWithoutMetricsIsAFailureWithItsReason) {
  const CompileFindings found = compile_findings({read_compile_log(
      record(
          R"({"dynamo_start": {"stack": [{"line": 1, "name": "f", "filename": 0, "loc": ""}]}, )" +
          id(0, 0) + "}") +
          artifact(0, 0, "dynamo_error",
                   "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n"
                   "torch._dynamo.exc.BackendCompilerFailed: it broke\n"),
      "a.log")});
  EXPECT_EQ(found.failures, 1U);
  ASSERT_EQ(found.failure_groups.size(), 1U);
  EXPECT_EQ(found.failure_groups[0].reason, "BackendCompilerFailed: it broke");
  EXPECT_FALSE(found.failure_groups[0].advice.empty());
}

TEST(CompileLog, AGraphThatIsLoggedTwiceCountsOnce) {
  const std::string graph =
      "mul = torch.ops.aten.mul.Tensor(a, b)\nadd = torch.ops.aten.add(mul, a)\n";
  const std::string code = "def call(args):\n    k.run(a)\n";
  const std::string twice = artifact(0, 0, "inductor_post_grad_graph", graph) +
                            artifact(0, 0, "after_post_grad_graph", graph);
  const std::string output = record(R"({"inductor_output_code": {}, )" + id(0, 0) + "}", code);
  const CompileLog log =
      read_compile_log(twice + output + metrics(0, 0, R"("cache_size": 0)"), "a.log");
  ASSERT_TRUE(log.compilations[0].fusion);
  EXPECT_EQ(log.compilations[0].fusion->ops_before, 2U);
  EXPECT_EQ(log.compilations[0].fusion->ops_after, 1U);
  // Code of a second graph that is not there: nothing can be said.
  const CompileLog more = read_compile_log(twice + output + output, "a.log");
  EXPECT_TRUE(more.compilations.empty() || !more.compilations[0].fusion);
}

TEST(CompileLog, TheSameBreakIsOneRowWithTorchsHintOrOurs) {
  const std::string text = "Graph break in user code at /me/a.py:3\nGraph Break Reason: ";
  const CompileFindings found = compile_findings({read_compile_log(
      artifact(0, 0, "dynamo_graph_break_reason", text + "builtin: print\n") +
          artifact(1, 0, "dynamo_graph_break_reason", text + "builtin: print\n") +
          artifact(2, 0, "dynamo_graph_break_reason", text + "odd\n  Hint: Do this.\n"),
      "a.log")});
  EXPECT_EQ(found.breaks, 3U);
  ASSERT_EQ(found.break_groups.size(), 2U);
  EXPECT_EQ(found.break_groups[0].count, 2U);
  EXPECT_NE(found.break_groups[0].advice.find("print"), std::string::npos);
  EXPECT_EQ(found.break_groups[1].advice, "Do this.");
}

TEST(CompileLog, CachesAreCountedByOutcome) {
  const CompileFindings found = compile_findings({read_compile_log(
      artifact(0, 0, "fx_graph_cache_miss", R"({"key": "a"})") +
          artifact(0, 1, "fx_graph_cache_hit", R"({"key": "a", "time_saved_ms": 12.5})") +
          artifact(0, 1, "aotautograd_cache_bypass", R"({"cache_bypass_reason": "hooks"})") +
          artifact(0, 1, "fx_graph_cache_hash", "{}"),
      "a.log")});
  const CacheCounts& graph = found.caches.at("fx_graph");
  EXPECT_EQ(graph.of(CacheOutcome::hit), 1U);
  EXPECT_EQ(graph.of(CacheOutcome::miss), 1U);
  EXPECT_EQ(graph.saved_ns, 12'500'000);
  EXPECT_EQ(found.caches.at("aotautograd").of(CacheOutcome::bypass), 1U);
  EXPECT_FALSE(found.caches.at("aotautograd").saved_ns);
  EXPECT_EQ(found.caches.size(), 2U);
}

TEST(CompileLog, SkippedCudaGraphsAreCountedByReason) {
  const std::string skipped =
      R"("duration_us": 5, "cudagraph_skip_reason": "skipping cudagraphs due to mutated inputs")";
  const CompileFindings found = compile_findings(
      {read_compile_log(metrics(0, 0, skipped) + metrics(1, 0, skipped) +
                            metrics(2, 0, R"("cudagraph_skip_reason": "something new")") +
                            metrics(3, 0, R"("cudagraph_skip_reason": null)"),
                        "a.log")});
  ASSERT_EQ(found.cudagraph_skips.size(), 2U);
  EXPECT_EQ(found.cudagraph_skips[0].reason, "skipping cudagraphs due to mutated inputs");
  EXPECT_EQ(found.cudagraph_skips[0].count, 2U);
  EXPECT_EQ(found.cudagraph_skips[0].advice, "Do not write to the inputs: copy them first");
  EXPECT_EQ(found.cudagraph_skips[1].advice, "");
}

std::string recorded_graph(bool is_backward) {
  const std::string begin =
      R"({"name": "CUDAGraphNode.record", "ts": 5, "ph": "B", "args": {"compile_id": "0/0", )"
      R"("is_backward": )";
  const std::string end =
      R"({"name": "CUDAGraphNode.record", "ts": 9, "ph": "E", "args": {"compile_id": "0/0"}})";
  return record(R"({"chromium_event": {}, "has_payload": "x"})",
                begin + (is_backward ? "true" : "false") + "}}\n") +
         record(R"({"chromium_event": {}, "has_payload": "x"})", end + "\n");
}

TEST(CompileLog, CudaGraphsRecordedAgainAreThoseOfOnePass) {
  const std::string both =
      metrics(0, 0, R"("duration_us": 5)") + recorded_graph(false) + recorded_graph(true);
  EXPECT_TRUE(compile_findings({read_compile_log(both, "a.log")}).cudagraph_rerecordings.empty());
  const CompileFindings found = compile_findings(
      {read_compile_log(both + recorded_graph(false) + recorded_graph(false), "a.log")});
  ASSERT_EQ(found.cudagraph_rerecordings.size(), 1U);
  EXPECT_EQ(found.cudagraph_rerecordings[0].function, "f");
  EXPECT_EQ(found.cudagraph_rerecordings[0].place, "model.py:7");
  EXPECT_EQ(found.cudagraph_rerecordings[0].times, 2U);
  EXPECT_EQ(found.logs[0].compilations[0].cudagraph_recordings[0], 3U);
}

TEST(CompileLog, KernelsAreCountedWhereTheyAreCalled) {
  EXPECT_EQ(generated_calls("triton_0 = async_compile.triton('triton_', '''\n"
                            "def triton_(x):\n    tl.store(x)\n''')\n"
                            "def call(args):\n"
                            "    # triton_0.run(a) is a comment\n"
                            "    extern_kernels.mm(a, b, out=c)\n"
                            "    triton_0.run(c, 10)\n"
                            "    buf = torch.ops.test.baz.default(c)\n"
                            "    aten.randint.low_out(1, 2, out=c)\n"
                            "    cpp_fused_0(c)\n"
                            "    return (c, )\n"
                            "def benchmark_compiled_module():\n    triton_0.run(c)\n"),
            5U);
  EXPECT_EQ(graph_operations("mul = torch.ops.aten.mul.Tensor(a, b);  a = b = None\n"
                             "# torch.ops in a comment\nreturn (mul,)\n"),
            1U);
}

TEST(CompileLog, RanksThatCompileMoreOftenAreNamed) {
  const std::string once = metrics(0, 0, R"("duration_us": 5)");
  const CompileFindings found = compile_findings(
      {read_compile_log(once + metrics(0, 1, R"("duration_us": 5)"), "rank_2.log"),
       read_compile_log(once, "rank_0.log"), read_compile_log(once, "rank_1.log")});
  EXPECT_EQ(found.logs[0].rank, 0);
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_EQ(found.differences[0].rank, 2);
  EXPECT_EQ(found.differences[0].what, "compilations");
  EXPECT_EQ(found.differences[0].count, 2U);
  EXPECT_EQ(found.differences[0].usual, 1U);
  EXPECT_EQ(found.total_ns, 10'000);  // of the slowest rank
}

TEST(CompileLog, LinesThatAreNoneAreCounted) {
  const CompileLog log = read_compile_log(
      "hello\n" + record("{broken") + record(R"({"str": ["a.py", 0]})") + "\tstray\n", "a.log");
  EXPECT_EQ(log.unreadable_lines, 1U);
  EXPECT_EQ(log.unreadable_json, 1U);
  EXPECT_EQ(log.records, 2U);
  EXPECT_TRUE(log.compilations.empty());
}

TEST(CompileLog, PayloadsWithAnotherChecksumAreCounted) {
  const auto with_sum = [](const std::string& sum) {
    return record(R"({"dynamo_guards": {}, "has_payload": ")" + sum + "\"}", "a\nb\n");
  };
  const std::string right = with_sum("8cdeb44417f3c26826595d5820cf5700");
  const std::string none = with_sum("x");
  EXPECT_EQ(read_compile_log(none + record(R"({"str": ["a", 1]})"), "a.log").damaged_payloads, 0U);
  EXPECT_EQ(read_compile_log(right, "a.log").damaged_payloads, 0U);
  EXPECT_EQ(read_compile_log(right + with_sum(std::string(32, '0')), "a.log").damaged_payloads, 1U);
}

// The logs of the corpus, counted by an independent parser.
struct PlainCounts {
  std::size_t compilations = 0, cache_events = 0, recompiles = 0, breaks = 0;
};

PlainCounts plain_counts(const std::string& path) {
  PlainCounts counts;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find("] {");
    if (line.starts_with('\t') || begin == std::string::npos) continue;
    const json envelope = json::parse(line.substr(begin + 2), nullptr, false);
    if (envelope.is_discarded()) continue;
    if (envelope.contains("compilation_metrics")) {
      ++counts.compilations;
      counts.breaks +=
          envelope["compilation_metrics"].value("restart_reasons", json::array()).size();
    }
    if (!envelope.contains("artifact")) continue;
    const std::string name = envelope["artifact"]["name"];
    for (const char* const outcome : {"_cache_hit", "_cache_miss", "_cache_bypass"}) {
      counts.cache_events += name.ends_with(outcome) ? 1U : 0U;
    }
    counts.recompiles += name == "recompile_reasons" ? 1U : 0U;
  }
  return counts;
}

TEST(CompileLogCorpus, CountsAreThoseOfPlainParsing) {
  const std::vector<std::string> files = trace::corpus_files("torch_trace");
  if (files.empty()) GTEST_SKIP() << "no corpus";
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    const CompileFindings found = compile_findings({read_compile_log(text.str(), path)});
    const PlainCounts plain = plain_counts(path);
    std::size_t cache_events = 0;
    for (const auto& [name, counts] : found.caches) {
      for (const std::uint64_t count : counts.outcomes) cache_events += count;
    }
    EXPECT_EQ(found.compilations, plain.compilations);
    EXPECT_EQ(cache_events, plain.cache_events);
    EXPECT_EQ(found.recompiles, plain.recompiles);
    EXPECT_EQ(found.breaks, plain.breaks);
  }
}

TEST(CompileLogCorpus, FusionIsAsCountedByHand) {
  const std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> expected = {
      {"simple.log", {14, 4}}, {"inductor_provenance_jit_cuda_log.txt", {13, 5}}};
  for (const auto& [name, ops] : expected) {
    const auto path = trace::corpus_file("torch_trace/" + name);
    if (!path) GTEST_SKIP() << "no corpus";
    std::ostringstream text;
    text << std::ifstream(*path).rdbuf();
    const CompileLog log = read_compile_log(text.str(), *path);
    ASSERT_TRUE(log.compilations.front().fusion) << name;
    EXPECT_EQ(log.compilations.front().fusion->ops_before, ops.first) << name;
    EXPECT_EQ(log.compilations.front().fusion->ops_after, ops.second) << name;
  }
}

}  // namespace fathom::analyze::compile_log_test
