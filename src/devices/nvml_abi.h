#pragma once

#include <cstddef>
#include <cstdint>

// What NVIDIA's management library (libnvidia-ml.so.1) takes and gives, as it lies in memory on
// 64-bit Linux. Ours, so that no header of NVIDIA's is needed to build.
namespace fathom::devices::nvml {

struct OpaqueDevice;
struct OpaqueEventSet;
using Device = OpaqueDevice*;
using EventSet = OpaqueEventSet*;

enum Result : int {
  kSuccess = 0,
  kUninitialized = 1,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kFunctionNotFound = 13,
  kGpuIsLost = 15,
  kLibraryMismatch = 18,  // the driver was replaced under the library that is loaded
  kGpuNotFound = 28,
};

constexpr std::uint32_t kNone32 = 0xFFFFFFFF;  // all ones: not available
constexpr std::uint64_t kNone64 = 0xFFFFFFFFFFFFFFFF;

enum Clock : int { kClockSm = 1, kClockMemory = 2 };
enum Threshold : int { kThresholdShutdown = 0, kThresholdSlowdown = 1 };
enum EccKind : int { kEccCorrected = 0, kEccUncorrected = 1 };
constexpr int kSensorDie = 0;
constexpr int kCounterVolatile = 0;  // since the driver was loaded
constexpr std::uint32_t kFieldMemoryTemperature = 82;
constexpr std::uint64_t kEventXid = 0x8;

enum ThrottleBit : std::uint64_t {
  kThrottleIdle = 0x1,
  kThrottleApplicationClocks = 0x2,
  kThrottlePowerCap = 0x4,
  kThrottleHardwareSlowdown = 0x8,
  kThrottleSyncBoost = 0x10,
  kThrottleSoftwareThermal = 0x20,
  kThrottleHardwareThermal = 0x40,
  kThrottlePowerBrake = 0x80,
  kThrottleDisplayClocks = 0x100,
};

struct PciInfo {
  char legacy_bus_id[16];
  std::uint32_t domain, bus, device;
  std::uint32_t device_and_vendor, subsystem;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, bus_id) == 36);

struct Utilization {
  std::uint32_t gpu, memory;
};
static_assert(sizeof(Utilization) == 8);

// `used` includes what the driver reserves.
struct MemoryV1 {
  std::uint64_t total, free, used;
};
static_assert(sizeof(MemoryV1) == 24);

struct MemoryV2 {
  std::uint32_t version;
  std::uint64_t total, reserved, free, used;
};
static_assert(sizeof(MemoryV2) == 40 && offsetof(MemoryV2, total) == 8);
constexpr std::uint32_t kMemoryV2 = sizeof(MemoryV2) | (2u << 24);
static_assert(kMemoryV2 == 0x02000028);

// The oldest functions fill ProcessV1, the others ProcessV2, and those of some drivers of the 53x
// series an element of 32 bytes that begins like it.
struct ProcessV1 {
  std::uint32_t pid;
  std::uint64_t used_bytes;
};
static_assert(sizeof(ProcessV1) == 16 && offsetof(ProcessV1, used_bytes) == 8);

struct ProcessV2 {
  std::uint32_t pid;
  std::uint64_t used_bytes;
  std::uint32_t gpu_instance, compute_instance;
};
static_assert(sizeof(ProcessV2) == 24 && offsetof(ProcessV2, gpu_instance) == 16);
constexpr std::size_t kLongProcessBytes = 32;

struct ProcessSample {
  std::uint32_t pid;
  std::uint64_t timestamp_us;
  std::uint32_t sm_percent, memory_percent, encoder_percent, decoder_percent;
};
static_assert(sizeof(ProcessSample) == 32 && offsetof(ProcessSample, sm_percent) == 16);

struct FieldValue {
  std::uint32_t field, scope;
  std::int64_t timestamp_us, latency_us;
  std::int32_t value_type, result;
  union {
    double as_double;
    std::uint32_t as_u32;
    std::uint64_t as_u64;
    std::int32_t as_i32;
  } value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value) == 32);

struct EventData {
  Device device;
  std::uint64_t type, data;
  std::uint32_t gpu_instance, compute_instance;
};
static_assert(sizeof(EventData) == 32 && offsetof(EventData, data) == 16);

}  // namespace fathom::devices::nvml
