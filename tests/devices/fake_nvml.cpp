// A libnvidia-ml.so.1 of our own, driven by the file that FATHOM_FAKE_NVML names. A line of it:
//
//   devices 8            so many GPUs (1)
//   init 9               nvmlInit answers this
//   every 9              each question to a device answers this: the driver went away
//   lost 1               GPU 1 is lost
//   lost_after 1 20      GPU 1 is lost once it was asked 20 questions
//   forbidden 1          GPU 1 may not be opened
//   unsupported power    the driver does not know the power; of any GPU
//   parts 0 2            GPU 0 is divided in two (MIG)
//   xid 79 0             an error of GPU 0, told once each time that the file changes
//   hang                 utilisation is never told, until the file changes
//   process 4711 1024    a program, and the bytes it uses; "-" is not known
//   busy 4711 55 7       a sample of it: 55 % busy, at 7 us
//   events 999           to make a set of events answers this; so does waiting for one
//   unified              GPUs have no memory of their own
//   reset 1              GPU 1 answers that it needs a reset
//
// It is read again when it changes. FAKE_OLD makes the driver of another age, FAKE_LONG_PROCESSES
// one with elements of 32 bytes in its process lists. With FAKE_PATIENT it waits for errors as long
// as it is told to, as a driver does; else not, so that tests are quick.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "devices/nvml_abi.h"

using namespace fathom::devices::nvml;

namespace {

struct FakeProcess {
  unsigned pid;
  std::uint64_t bytes;
};

struct Scenario {
  unsigned devices = 1;
  int init = kSuccess;
  int every = kSuccess;
  std::set<unsigned> lost, forbidden;
  std::map<unsigned, unsigned> lost_after;
  std::set<std::string> unsupported;
  std::map<unsigned, unsigned> parts;
  std::vector<std::pair<std::uint64_t, unsigned>> xids;
  std::vector<FakeProcess> processes;
  std::vector<ProcessSample> samples;
  int events = kSuccess;
  std::set<unsigned> reset;
  bool is_unified = false;
  bool hangs = false;
};

std::mutex mutex;
// Never destroyed: a thread may hang in here when the program ends.
Scenario& scenario = *new Scenario;
std::map<unsigned, unsigned>& questions = *new std::map<unsigned, unsigned>;  // to each GPU, so far
timespec changed{};
std::size_t xids_told = 0;
#ifndef FAKE_OLD
unsigned counted = 0;  // GPUs, when it was started: it does not find those that come later
#endif

Scenario parse(std::istream& file) {
  Scenario read;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word;
    std::string text;
    unsigned a = 0;
    unsigned b = 0;
    words >> word;
    if (word == "devices") words >> read.devices;
    if (word == "init") words >> read.init;
    if (word == "every") words >> read.every;
    if (word == "lost" && words >> a) read.lost.insert(a);
    if (word == "lost_after" && words >> a >> b) read.lost_after[a] = b;
    if (word == "forbidden" && words >> a) read.forbidden.insert(a);
    if (word == "unsupported" && words >> text) read.unsupported.insert(text);
    if (word == "parts" && words >> a >> b) read.parts[a] = b;
    if (word == "xid" && words >> a >> b) read.xids.emplace_back(a, b);
    if (word == "hang") read.hangs = true;
    if (word == "unified") read.is_unified = true;
    if (word == "events") words >> read.events;
    if (word == "reset" && words >> a) read.reset.insert(a);
    ProcessSample sample{};
    if (word == "busy" && words >> sample.pid >> sample.sm_percent >> sample.timestamp_us)
      read.samples.push_back(sample);
    if (word == "process" && words >> a >> text) {
      read.processes.push_back({a, text == "-" ? kNone64 : std::stoull(text)});
    }
  }
  return read;
}

Scenario now() {
  const std::lock_guard lock(mutex);
  const char* const path = std::getenv("FATHOM_FAKE_NVML");
  struct stat about {};
  if (path == nullptr || ::stat(path, &about) != 0) return scenario;
  if (about.st_mtim.tv_sec != changed.tv_sec || about.st_mtim.tv_nsec != changed.tv_nsec) {
    changed = about.st_mtim;
    std::ifstream file(path);
    scenario = parse(file);
    xids_told = 0;
    questions.clear();
  }
  return scenario;
}

// Devices are numbers from 1; part p of GPU g is 100 (p + 1) + g + 1.
Device handle(unsigned number) {
  return reinterpret_cast<Device>(std::uintptr_t{number} + 1);
}
unsigned number_of(Device device) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device)) - 1;
}

int check(Device device, const char* what) {
  const Scenario current = now();
  if (current.every != kSuccess) return current.every;
  const unsigned gpu = number_of(device) % 100;
  if (current.lost.contains(gpu)) return kGpuIsLost;
  constexpr int kResetRequired = 16;
  if (current.reset.contains(gpu) && std::string_view(what) == "utilization") return kResetRequired;
  const auto limit = current.lost_after.find(gpu);
  if (limit != current.lost_after.end()) {
    const std::lock_guard lock(mutex);
    if (++questions[gpu] > limit->second) return kGpuIsLost;
  }
  if (current.unsupported.contains(what)) return kNotSupported;
  return kSuccess;
}

template <typename T>
int answer(Device device, const char* what, T* into, T value) {
  const int result = check(device, what);
  if (result == kSuccess) *into = value;
  return result;
}

int text(Device device, const char* what, char* into, unsigned room, const std::string& value) {
  const int result = check(device, what);
  if (result != kSuccess) return result;
  if (value.size() + 1 > room) return kInsufficientSize;
  std::memcpy(into, value.c_str(), value.size() + 1);
  return kSuccess;
}

#if defined(FAKE_OLD)
constexpr std::size_t kElement = sizeof(ProcessV1);
#elif defined(FAKE_LONG_PROCESSES)
constexpr std::size_t kElement = kLongProcessBytes;
#else
constexpr std::size_t kElement = sizeof(ProcessV2);
#endif

int processes(Device device, unsigned* count, void* into) {
  const int result = check(device, "processes");
  if (result != kSuccess) return result;
  const Scenario current = now();
  const unsigned room = *count;
  *count = static_cast<unsigned>(current.processes.size());
  if (*count > room) return kInsufficientSize;
  for (unsigned i = 0; i < *count; ++i) {
    auto* const element = static_cast<std::byte*>(into) + i * kElement;
    std::memset(element, 0xEE, kElement);
    const ProcessV1 process{current.processes[i].pid, current.processes[i].bytes};
    std::memcpy(element, &process, sizeof process);
  }
  return kSuccess;
}

}  // namespace

extern "C" {

const char* nvmlErrorString(int result) {
  switch (result) {
    case kDriverNotLoaded:
      return "Driver Not Loaded";
    case kGpuIsLost:
      return "GPU is lost";
    default:
      return "some error";
  }
}
int nvmlShutdown() {
  return kSuccess;
}
int nvmlSystemGetDriverVersion(char* into, unsigned room) {
  return text(handle(0), "version", into, room, "550.54.15");
}
int nvmlDeviceGetName(Device device, char* into, unsigned room) {
  return text(device, "name", into, room,
              number_of(device) >= 100 ? "Fake GPU MIG 1g.5gb" : "Fake GPU");
}
int nvmlDeviceGetUUID(Device device, char* into, unsigned room) {
  const unsigned number = number_of(device);
  return text(device, "uuid", into, room,
              (number >= 100 ? "MIG-fake-" : "GPU-fake-") + std::to_string(number));
}
int nvmlDeviceGetMemoryInfo(Device device, MemoryV1* into) {
  return answer(device, "memory", into, {1000, 600, 400});
}
int nvmlDeviceGetUtilizationRates(Device device, Utilization* into) {
  while (now().hangs) ::usleep(5000);
  return answer(device, "utilization", into, {70 + number_of(device), 40});
}
int nvmlDeviceGetTemperature(Device device, int, unsigned* into) {
  return answer(device, "temperature", into, 61u);
}
int nvmlDeviceGetTemperatureThreshold(Device device, int which, unsigned* into) {
  return answer(device, "threshold", into, which == kThresholdSlowdown ? 92u : 97u);
}
int nvmlDeviceGetClockInfo(Device device, int type, unsigned* into) {
  return answer(device, "clock", into, type == kClockSm ? 1410u : 1593u);
}
int nvmlDeviceGetMaxClockInfo(Device device, int type, unsigned* into) {
  return answer(device, "clock", into, type == kClockSm ? 1980u : 2619u);
}
int nvmlDeviceGetPowerUsage(Device device, unsigned* into) {
  return answer(device, "power", into, 251'500u);
}
int nvmlDeviceGetPowerManagementLimit(Device device, unsigned* into) {
  return answer(device, "power", into, 400'000u);
}
int nvmlDeviceGetFanSpeed(Device device, unsigned* into) {
  return answer(device, "fan", into, 33u);
}
int nvmlDeviceGetTotalEccErrors(Device device, int kind, int, std::uint64_t* into) {
  return answer(device, "ecc", into, std::uint64_t{kind == kEccCorrected ? 5u : 0u});
}
int nvmlDeviceGetEncoderUtilization(Device device, unsigned* into, unsigned* period) {
  *period = 1000;
  return answer(device, "encoder", into, 3u);
}

#if defined(FAKE_OLD)
int nvmlInit() {
  return now().init;
}
int nvmlDeviceGetCount(unsigned* into) {
  *into = now().devices;
  return now().every;
}
int nvmlDeviceGetHandleByIndex(unsigned index, Device* into) {
  *into = handle(index);
  return now().every;
}
int nvmlDeviceGetComputeRunningProcesses(Device device, unsigned* count, void* into) {
  return processes(device, count, into);
}
#else
int nvmlInit_v2() {
  const Scenario current = now();
  const std::lock_guard lock(mutex);
  counted = current.devices;
  return current.init;
}
int nvmlDeviceGetCount_v2(unsigned* into) {
  *into = counted;
  return now().every;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* into) {
  *into = handle(index);
  return now().forbidden.contains(index) ? static_cast<int>(kNoPermission) : now().every;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, Device* into) {
  const unsigned number = static_cast<unsigned>(std::strtoul(bus + 5, nullptr, 16));
  *into = handle(number);
  return number < now().devices ? kSuccess : kNotFound;
}
int nvmlDeviceGetPciInfo_v3(Device device, PciInfo* into) {
  PciInfo pci{};
  pci.bus = number_of(device);
  return answer(device, "pci", into, pci);
}
int nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* into) {
  if (into->version != kMemoryV2) return 25;
  if (now().is_unified) return answer(device, "memory", into, {kMemoryV2, 0, 0, 0, 0});
  return answer(device, "memory", into, {kMemoryV2, 1000, 100, 600, 300});
}
int nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* into) {
  return answer(device, "power", into, 350'000u);
}
int nvmlDeviceGetTotalEnergyConsumption(Device device, std::uint64_t* into) {
  return answer(device, "energy", into, std::uint64_t{123'000});
}
int nvmlDeviceGetCurrentClocksEventReasons(Device device, std::uint64_t* into) {
  return answer(device, "throttle", into, std::uint64_t{kThrottleHardwareThermal});
}
int nvmlDeviceGetFieldValues(Device device, int count, FieldValue* values) {
  for (int i = 0; i < count; ++i) {
    values[i].result = check(device, "fields");
    values[i].value.as_u32 = 70;
  }
  return kSuccess;
}
int nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, void* into) {
  return processes(device, count, into);
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, unsigned* count, void* into) {
  return processes(device, count, into);
}
int nvmlDeviceGetConfComputeMemSizeInfo() {
  return kNotSupported;
}
#if !defined(FAKE_LONG_PROCESSES)
int nvmlDeviceGetRunningProcessDetailList() {
  return kNotSupported;
}
#endif
int nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending) {
  *current = *pending = now().parts.contains(number_of(device)) ? 1 : 0;
  return check(device, "mig");
}
int nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned* into) {
  return answer(device, "mig", into, 7u);
}
int nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* into) {
  const Scenario current = now();
  const auto parts = current.parts.find(number_of(device));
  if (parts == current.parts.end() || index >= parts->second) return kNotFound;
  *into = handle(100 * (index + 1) + number_of(device));
  return kSuccess;
}
int nvmlDeviceGetProcessUtilization(Device device, ProcessSample* into, unsigned* count,
                                    std::uint64_t since_us) {
  const int result = check(device, "samples");
  if (result != kSuccess) return result;
  std::vector<ProcessSample> samples = now().samples;
  std::erase_if(samples, [&](const ProcessSample& each) { return each.timestamp_us < since_us; });
  const unsigned room = *count;
  *count = static_cast<unsigned>(samples.size());
  if (samples.empty()) return kNotFound;
  if (into == nullptr || *count > room) return kInsufficientSize;
  std::ranges::copy(samples, into);
  return kSuccess;
}
int nvmlEventSetCreate(EventSet* into) {
  if (now().events != kSuccess) return now().events;
  *into = reinterpret_cast<EventSet>(std::uintptr_t{1});
  return kSuccess;
}
int nvmlEventSetFree(EventSet) {
  return kSuccess;
}
int nvmlDeviceGetSupportedEventTypes(Device device, std::uint64_t* into) {
  return answer(device, "events", into, std::uint64_t{kEventXid});
}
int nvmlDeviceRegisterEvents(Device device, std::uint64_t, EventSet) {
  return check(device, "events");
}
int nvmlEventSetWait_v2(EventSet, EventData* into, [[maybe_unused]] unsigned most_ms) {
#ifdef FAKE_PATIENT
  ::usleep(1000 * most_ms);
#else
  ::usleep(5000);
#endif
  const Scenario current = now();
  if (current.every != kSuccess) return current.every;
  if (current.events != kSuccess) return current.events;
  const std::lock_guard lock(mutex);
  if (xids_told >= scenario.xids.size()) return kTimeout;
  const auto& [xid, device] = scenario.xids[xids_told++];
  *into = {handle(device), kEventXid, xid, kNone32, kNone32};
  return kSuccess;
}
#endif

}  // extern "C"
