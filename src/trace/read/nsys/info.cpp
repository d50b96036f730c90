// What an export says of the run: the program, its machine and GPUs, processes and threads.

#include <fmt/format.h>

#include <algorithm>

#include "trace/read/nsys/reader.h"

namespace fathom::trace {
namespace {

constexpr std::string_view kArgument = "PROCESS_0:ARGUMENT_";

}  // namespace

void NsysReader::name_tracks() {
  std::map<std::int64_t, std::string> processes;  // by pid
  visit("PROCESSES", {"pid", "name", "globalPid"}, [&](const SqliteRow& row) {
    const auto pid = row.integer(0);
    processes[pid ? *pid : pid_of(row.integer(2).value_or(0))] = row.text(1);
  });
  // What a program named with NVTX goes before what the system calls a thread.
  visit("ThreadNames", {"globalTid", "nameId"}, [&](const SqliteRow& row) {
    if (const auto thread = row.integer(0)) {
      thread_names_.try_emplace(*thread, string(row.integer(1)));
    }
  });
  std::map<std::pair<std::int64_t, std::int64_t>, std::string_view> threads;
  for (const auto& [id, text] : thread_names_) threads[{pid_of(id), tid_of(id)}] = text;
  for (Track& track : part_.tracks) {
    if (!track.process_name.empty()) continue;  // of a GPU
    const auto process = processes.find(track.pid);
    if (process != processes.end()) track.process_name = process->second;
    const auto thread = threads.find({track.pid, track.tid});
    if (thread != threads.end()) track.thread_name = thread->second;
  }
}

RunInfo NsysReader::run_info() const {
  RunInfo run;
  run.format = "Nsight Systems";
  run.command = command();
  run.devices = devices();
  database_.for_each_row(
      "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs", "systemClockNs"}, [&](const SqliteRow& row) {
        const auto unix_ns = row.integer(0);
        if (!unix_ns || *unix_ns <= 0) return;
        run.base_time_ns = *unix_ns - std::max<std::int64_t>(0, row.integer(1).value_or(0));
      });
  return run;
}

std::string NsysReader::command() const {
  std::string program;
  std::map<std::uint64_t, std::string> arguments;
  database_.for_each_row("META_DATA_CAPTURE", {"name", "value"}, [&](const SqliteRow& row) {
    const std::string_view key = row.text(0);
    if (key == "PROCESS_0:COMMAND") program = row.text(1);
    if (!key.starts_with(kArgument)) return;
    std::uint64_t number = 0;
    for (const char c : key.substr(kArgument.size(), 9)) {
      if (c < '0' || c > '9') return;
      number = number * 10 + static_cast<std::uint64_t>(c - '0');
    }
    arguments[number] = row.text(1);
  });
  for (const auto& [number, argument] : arguments) program += " " + argument;
  return program;
}

// GPUs as the machine numbers them; CUDA may number them otherwise in each process, and rows of GPU
// work go by CUDA's.
std::vector<DeviceInfo> NsysReader::devices() const {
  std::map<std::int64_t, DeviceInfo> gpus;
  database_.for_each_row("TARGET_INFO_GPU", {"id", "name", "totalMemory", "smCount"},
                         [&](const SqliteRow& row) {
                           DeviceInfo gpu;
                           gpu.id = row.integer(0).value_or(0);
                           gpu.name = row.text(1);
                           gpu.memory_bytes = row.integer(2);
                           gpu.multiprocessors = row.integer(3);
                           if (gpu.memory_bytes <= 0) gpu.memory_bytes.reset();
                           if (gpu.multiprocessors <= 0) gpu.multiprocessors.reset();
                           gpus.emplace(gpu.id, gpu);
                         });
  std::map<std::int64_t, DeviceInfo> by_cuda;
  database_.for_each_row("TARGET_INFO_CUDA_DEVICE", {"cudaId", "gpuId"}, [&](const SqliteRow& row) {
    const auto cuda = row.integer(0);
    const auto gpu = gpus.find(row.integer(1).value_or(-1));
    if (!cuda || gpu == gpus.end()) return;
    DeviceInfo info = gpu->second;
    info.id = *cuda;
    by_cuda.emplace(*cuda, info);
  });
  std::vector<DeviceInfo> found;
  for (auto& [id, info] : by_cuda.empty() ? gpus : by_cuda) found.push_back(info);
  return found;
}

}  // namespace fathom::trace
