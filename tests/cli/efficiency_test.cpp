// Classes and efficiency on the command line: a product with known shapes.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run_program.h"

namespace fathom::cli::efficiency_test {

// 2·1000³ FLOP and 6 MB in 4 µs.
std::string product_trace(const std::string& device, bool has_shapes = true) {
  const std::string args = has_shapes ? R"({"Input Dims": [[1000, 1000], [1000, 1000]],
                       "Input type": ["c10::BFloat16", "c10::BFloat16"]})"
                                      : "{}";
  return R"({"deviceProperties": [{"id": 0, "name": ")" + device + R"("}], "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 5, "dur": 20, "args": )" +
         args + R"(},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 10, "dur": 5,
   "args": {"correlation": 7}},
  {"ph": "X", "cat": "kernel", "name": "sm90_xmma_gemm_bf16bf16", "pid": 0, "tid": 7, "ts": 30, "dur": 4,
   "args": {"correlation": 7, "stream": 7, "device": 0}}]})";
}

nlohmann::json parsed(const std::vector<std::string>& arguments) {
  const Outcome outcome = run_program(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

TEST(EfficiencyCommands, GiveTheSameFiguresAsTextAndJson) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", product_trace("NVIDIA H100 80GB HBM3"));
  for (const char* command : {"report", "hta"}) {
    const Outcome text = run_program({command, file});
    EXPECT_NE(text.out.find("500 TFLOP/s   50.5 %"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("GPU time by class: GEMM 100.0 %"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("(MFU) was 50.5 %."), std::string::npos) << text.out;
  }
  const nlohmann::json kernel = parsed({"hta", file, "--json"})["ranks"][0]["kernels"][0];
  EXPECT_EQ(kernel["class"], "gemm");
  EXPECT_EQ(kernel["tflops"], 500);
  EXPECT_NEAR(kernel["peak_pct"].get<double>(), 50.54, 0.01);
  EXPECT_EQ(kernel["tensor_cores"], true);
  EXPECT_TRUE(kernel["occupancy_pct"].is_null());
  const nlohmann::json report = parsed({"report", file, "--json"});
  EXPECT_EQ(report["classes"][0]["class"], "gemm");
  EXPECT_EQ(report["efficiency"]["work"][0]["shapes"], "1000x1000, 1000x1000");
  EXPECT_EQ(report["efficiency"]["work"][0]["flop"], 2e9);
  EXPECT_EQ(report["efficiency"]["work"][0]["bytes"], 6e6);
  for (const nlohmann::json& operation : report["operations"]) {
    EXPECT_EQ(operation["tflops"].is_null(), operation["kind"] == "runtime_call") << operation;
  }
}

TEST(EfficiencyCommands, TakePeaksOfAGpuThatIsNotKnown) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", product_trace("A GPU of tomorrow"));
  const Outcome without = run_program({"hta", file});
  EXPECT_NE(without.out.find("The peaks of the A GPU of tomorrow are unknown."), std::string::npos)
      << without.out;
  const nlohmann::json given =
      parsed({"hta", file, "--peak", "fp16=1000,gbps=10000", "--json"})["ranks"][0]["kernels"][0];
  EXPECT_EQ(given["efficiency_pct"], 50);
  const Outcome wrong = run_program({"report", file, "--peak", "int4=3"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("invalid peak 'int4=3'"), std::string::npos) << wrong.err;
}

TEST(EfficiencyCommands, SayHowToRecordShapes) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", product_trace("NVIDIA H100", false));
  const Outcome text = run_program({"report", file});
  EXPECT_NE(text.out.find("record_shapes=True"), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find("achieved"), std::string::npos) << text.out;
}

TEST(ClassCommands, TablesCanHaveARowPerClass) {
  const Scratch scratch;
  const std::string file = scratch.write("trace.json", product_trace("NVIDIA H100"));
  for (const char* command : {"report", "hta"}) {
    const Outcome text = run_program({command, file, "--by", "class"});
    EXPECT_NE(text.out.find("class of GPU work"), std::string::npos) << text.out;
    EXPECT_EQ(text.out.find("sm90_xmma_gemm_bf16bf16  gemm"), std::string::npos) << text.out;
  }
  EXPECT_EQ(run_program({"report", file, "--by", "colour"}).status, 2);
  const std::string own =
      scratch.write("own.json", R"([{"ph": "X", "cat": "kernel", "name": "saxpy",
    "pid": 0, "tid": 7, "ts": 1, "dur": 9, "args": {"device": 0, "stream": 7}}])");
  EXPECT_EQ(run_program({"report", own}).out.find("by class"), std::string::npos);
  EXPECT_NE(run_program({"report", own, "--by", "class"}).out.find("No classes: these kernels are"),
            std::string::npos);
}

}  // namespace fathom::cli::efficiency_test
