#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "devices/drm_processes.h"
#include "devices/pci_gpus.h"
#include "devices/rate.h"

// What AMD's and Intel's cards have in common: the kernel lists them, says whether they sleep, and
// who has them open.
namespace fathom::devices {

// Reads the files of one card. Made when it is awake, and asked only then.
class CardReader {
 public:
  CardReader() = default;
  CardReader(const CardReader&) = delete;
  CardReader& operator=(const CardReader&) = delete;
  virtual ~CardReader() = default;

  // What does not change: its limits; a UUID and a name, where it has better ones than `into`.
  virtual void identify(GpuDevice& into) = 0;
  virtual void read(const Wanted& wanted, Rate::Time now, GpuDevice& into) = 0;
  virtual bool shares_memory_of_host() const = 0;
  // Memory of programs that is not told with what they have open; bytes by pid.
  virtual std::map<std::int64_t, std::int64_t> other_memory() { return {}; }
};

struct CardVendor {
  const char* backend;               // "amdgpu"
  const char* name;                  // "AMD"
  std::string_view pci_id;           // kAmdId
  std::vector<std::string> drivers;  // that tell what the reader reads
  std::function<std::unique_ptr<CardReader>(const PciGpu&)> reader;
};

// Null where there is no such card.
std::unique_ptr<Backend> card_backend(CardVendor vendor, const Roots& roots);

}  // namespace fathom::devices
