#include "ingest_data.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace fathom::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScaleScript = FATHOM_SOURCE_DIR "/../shared/tools/scale_trace.py";
constexpr const char* kRealTrace =
    FATHOM_SOURCE_DIR "/../shared/corpus/kineto/v100_rank1of2.json.gz";

constexpr std::array<const char*, 8> kOps = {
    "aten::empty", "aten::add_", "aten::mm",   "aten::conv2d",
    "aten::copy_", "aten::sum",  "aten::view", "autograd::engine::evaluate_function: MulBackward0"};

// One operator that launches one kernel, as Kineto writes it, with its arrows and an allocation.
void append_step(std::string& out, std::uint64_t number) {
  const auto put = [&]<typename... Args>(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(out), text, std::forward<Args>(args)...);
  };
  const std::uint64_t ts = 1669783687464181 + number * 60;
  const std::uint64_t thread = 785244 + number / 7 % 2;
  put(R"({{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 783658, "tid": {}, "ts": {}, "dur": 45, )"
      R"("args": {{"External id": {}, "Ev Idx": {}, "Fwd thread id": 1, "Sequence number": {}}}}},)"
      "\n",
      kOps[number % kOps.size()], thread, ts, number, number, number / 3);
  put(R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 783658, "tid": {}, )"
      R"("ts": {}, "dur": 12, "args": {{"External id": {}, "cbid": 211, "correlation": {}}}}},)"
      "\n",
      thread, ts + 20, number, number);
  put(R"({{"ph": "s", "id": {}, "pid": 783658, "tid": {}, "ts": {}, "cat": "ac2g", "name": "ac2g"}},)"
      "\n",
      number, thread, ts + 20);
  put(R"({{"ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, )"
      R"(at::native::AddFunctor<float>, at::detail::Array<char*, 3> >(int, at::native::AddFunctor)"
      R"(<float>, at::detail::Array<char*, 3> >", "pid": 1, "tid": 7, "ts": {}, "dur": 31, "args": )"
      R"({{"External id": {}, "queued": 0, "device": 1, "context": 1, "stream": 7, "correlation": {}, )"
      R"("registers per thread": 16, "shared memory": 0, "blocks per SM": 3.2, "warps per SM": 6.4, )"
      R"("grid": [256, 1, 1], "block": [64, 1, 1], "est. achieved occupancy %": 10}}}},)"
      "\n",
      ts + 27, number, number);
  put(R"({{"ph": "f", "id": {}, "pid": 1, "tid": 7, "ts": {}, "cat": "ac2g", "name": "ac2g", )"
      R"("bp": "e"}},)"
      "\n",
      number, ts + 27);
  put(R"({{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 783658, )"
      R"("tid": {}, "ts": {}, "args": {{"Total Reserved": 121634816, "Total Allocated": 91505152, )"
      R"("Bytes": {}, "Addr": 128184607182336, "Device Id": 1, "Device Type": 1, "Ev Idx": {}}}}},)"
      "\n",
      thread, ts + 5, number % 2 == 0 ? 512 : -512, number);
}

void write_made_up(const std::string& path, int megabytes) {
  std::ofstream out(path, std::ios::binary);
  out << R"({"schemaVersion": 1, "distributedInfo": {"rank": 1, "world_size": 2}, "traceEvents": [)"
      << '\n';
  std::string text;
  std::uint64_t number = 1;
  for (std::uint64_t size = 0; size < static_cast<std::uint64_t>(megabytes) * 1'000'000;) {
    text.clear();
    for (int i = 0; i < 1000; ++i) append_step(text, number++);
    out << text;
    size += text.size();
  }
  out << R"({"ph": "M", "name": "process_name", "pid": 783658, "tid": 0, "args": {"name": "python"}})"
      << "\n]}\n";
}

void pack(const std::string& from, const std::string& to) {
  std::ifstream in(from, std::ios::binary);
  gzFile out = gzopen(to.c_str(), "wb6");
  std::string buffer(1 << 20, '\0');
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), in.gcount() > 0) {
    gzwrite(out, buffer.data(), static_cast<unsigned>(in.gcount()));
  }
  gzclose(out);
}

// Makes a file under another name first, so that a broken off run leaves none that looks whole.
template <typename Make>
void make_once(const std::string& path, const Make& make) {
  if (fs::exists(path)) return;
  fmt::print(stderr, "making {}\n", path);
  make(path + ".part");
  fs::rename(path + ".part", path);
}

}  // namespace

std::string make_plain(int megabytes) {
  const std::string folder = FATHOM_BINARY_DIR "/bench_data";
  fs::create_directories(folder);
  std::string path = fmt::format("{}/ingest_{}.json", folder, megabytes);
  make_once(path, [&](const std::string& to) {
    const std::string command =
        fmt::format("python3 '{}' '{}' '{}' {} >&2", kScaleScript, kRealTrace, to, megabytes);
    const bool has_corpus = fs::exists(kScaleScript) && fs::exists(kRealTrace);
    if (!has_corpus || std::system(command.c_str()) != 0) write_made_up(to, megabytes);
  });
  return path;
}

TraceFile make_trace(int megabytes) {
  const std::string plain = make_plain(megabytes);
  const std::string gz = plain + ".gz";
  make_once(gz, [&](const std::string& to) { pack(plain, to); });
  return {plain, gz};
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace fathom::bench
