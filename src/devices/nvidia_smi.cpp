#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "devices/backoff.h"
#include "devices/child.h"
#include "devices/described_processes.h"
#include "devices/kernel_files.h"
#include "devices/nvidia_smi_text.h"
#include "devices/pci_gpus.h"

namespace fathom::devices {
namespace {

// Where a program that has more rights than who started it must not be told where to look.
std::string find_nvidia_smi() {
  const auto is_program = [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; };
  const char* const chosen = ::secure_getenv("FATHOM_NVIDIA_SMI");
  if (chosen != nullptr && *chosen != '\0') return is_program(chosen) ? chosen : "";
  const char* const path = ::secure_getenv("PATH");
  std::string_view folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    const std::string program = std::string(folder) + "/nvidia-smi";
    if (folder.starts_with('/') && is_program(program)) return program;
  }
  for (const char* place : {"/usr/bin/nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi"}) {
    if (is_program(place)) return place;
  }
  return {};
}

// The first line, in which nvidia-smi says why it has no answer.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

class NvidiaSmiBackend : public Backend {
 public:
  NvidiaSmiBackend(std::string program, Roots roots, std::chrono::milliseconds at_most)
      : program_(std::move(program)), roots_(std::move(roots)), at_most_(at_most) {}

  const char* name() const override { return "nvidia-smi"; }
  Look look(const Wanted& wanted, bool discover) override;

 private:
  std::string ask(std::vector<std::string> words);
  void add_programs(std::vector<GpuDevice>& gpus, const std::string& only);

  const std::string program_;
  const Roots roots_;
  const std::chrono::milliseconds at_most_;
  std::vector<std::string> fields_;  // known once it was asked what it can be asked
  DescribedProcesses described_;
  Backoff backoff_;
  std::string problem_;
};

std::string NvidiaSmiBackend::ask(std::vector<std::string> words) {
  words.insert(words.begin(), program_);
  std::erase(words, "");
  const ChildOutput output = run_program(words, at_most_);
  if (!output.has_started) throw base::Error("nvidia-smi", "cannot be started");
  if (!output.was_in_time) {
    const double seconds = std::chrono::duration<double>(at_most_).count();
    throw base::Error("nvidia-smi", fmt::format("did not answer within {} s", seconds));
  }
  // One GPU of several that fails makes it fail; what it says of the others stands.
  return output.text;
}

void NvidiaSmiBackend::add_programs(std::vector<GpuDevice>& gpus, const std::string& only) {
  const std::string answer = ask(
      {only, "--query-compute-apps=gpu_uuid,pid,used_gpu_memory", "--format=csv,noheader,nounits"});
  for (const auto& [uuid, program] : smi::parse_programs(answer)) {
    const auto gpu = std::ranges::find(gpus, uuid, &GpuDevice::uuid);
    if (gpu == gpus.end()) continue;
    GpuProcess process = described_.describe(roots_, program.pid);
    process.memory_bytes = program.memory_bytes;
    gpu->processes.push_back(std::move(process));
  }
  described_.end_look();
  for (GpuDevice& gpu : gpus) sort_processes(gpu.processes);
}

// GPUs that sleep are listed, and only the others asked for, by their addresses.
Look NvidiaSmiBackend::look(const Wanted& wanted, bool) {
  if (!backoff_.is_due()) throw base::Error("nvidia-smi", problem_);
  Look look;
  std::string awake;
  for (const PciGpu& gpu : pci_gpus(roots_, kNvidiaId)) {
    if (!is_suspended(gpu.folder)) {
      awake += (awake.empty() ? "" : ",") + gpu.address;
      continue;
    }
    look.devices.push_back({.uuid = "pci-" + gpu.address,
                            .pci_address = gpu.address,
                            .name = name_of_gpu(roots_, gpu, "NVIDIA"),
                            .vendor = "NVIDIA",
                            .type = "gpu",
                            .backend = "nvidia-smi",
                            .state = DeviceState::suspended});
  }
  if (!look.devices.empty() && awake.empty()) return look;
  const std::string only = look.devices.empty() ? "" : "--id=" + awake;
  try {
    if (fields_.empty()) fields_ = smi::fields_to_ask(ask({"--help-query-gpu"}));
    const std::string answer = ask({only, fmt::format("--query-gpu={}", fmt::join(fields_, ",")),
                                    "--format=csv,noheader,nounits"});
    std::vector<GpuDevice> gpus = smi::parse_gpus(answer, fields_);
    if (gpus.empty()) {
      const std::string why = first_line(answer);
      throw base::Error("nvidia-smi", why.empty() ? "lists no GPU" : why);
    }
    if (wanted.processes) add_programs(gpus, only);
    std::ranges::move(gpus, std::back_inserter(look.devices));
  } catch (const base::Error& error) {
    problem_ = error.problem();
    backoff_.failed();
    throw;
  }
  backoff_.succeeded();
  for (std::size_t i = 0; i < look.devices.size(); ++i) {
    look.devices[i].index = static_cast<unsigned>(i);
  }
  return look;
}

}  // namespace

std::unique_ptr<Backend> nvidia_smi_backend(const Roots& roots, std::chrono::milliseconds at_most) {
  std::string program = find_nvidia_smi();
  if (program.empty()) return nullptr;
  return std::make_unique<NvidiaSmiBackend>(std::move(program), roots, at_most);
}

}  // namespace fathom::devices
