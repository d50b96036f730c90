#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "devices/described_processes.h"
#include "devices/fdinfo.h"
#include "devices/pci_gpus.h"
#include "devices/rate.h"

namespace fathom::devices {

// A card whose programs are looked for.
struct DrmCard {
  std::string pci_address;
  std::vector<std::string> nodes;      // "card0", "renderD128"
  bool shares_memory_of_host = false;  // what it uses there counts, too
};

struct DrmProcesses {
  std::map<std::string, std::vector<GpuProcess>> of_card;  // by PCI address; most memory first
  bool are_partial = false;  // we may not look into programs of others
};

// The programs that have a card open, found by going through /proc, which is what costs most in
// looking at GPUs. Descriptors of cards that were not named are not read: that could wake them.
class DrmProcessSweep {
 public:
  using Time = Rate::Time;
  DrmProcesses look(const Roots& roots, const std::vector<DrmCard>& cards, Time now);

 private:
  using ClientKey = std::tuple<std::string, std::uint64_t, std::int64_t>;  // card, id, pid
  struct EngineRates {
    EngineUse highest;  // a counter may step back for a moment
    Rate time, cycles, total_cycles;
    bool is_seen = false;
  };
  // A program without a GPU, or one that we may not look into, is looked into less often.
  struct Passed {
    unsigned looks_left = 0;
    bool is_refused = false;
  };
  struct Use {
    std::optional<std::int64_t> bytes;
    std::map<std::string, double, std::less<>> busy_percent;  // by engine
  };
  using Uses = std::map<std::pair<std::string, std::int64_t>, Use>;  // by card and pid

  void look_into(const Roots& roots, std::int64_t pid,
                 const std::map<std::string, const DrmCard*>& by_node, Time now);
  void take(const DrmCard& card, std::int64_t pid, const DrmClient& client, Time now);

  Uses uses_;                 // of the look that is under way
  std::set<ClientKey> seen_;  // in it
  std::map<std::pair<ClientKey, std::string>, EngineRates> rates_;
  std::map<std::int64_t, Passed> passed_;  // by pid
  DescribedProcesses described_;
};

}  // namespace fathom::devices
