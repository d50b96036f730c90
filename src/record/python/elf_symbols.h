#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fathom::record {

// Where a 64-bit ELF file has the dynamic symbols of these names; addresses count from where the
// file's first loaded byte lies, or are absolute for a program that is always loaded in one place.
struct ElfSymbols {
  bool is_relocated = true;
  std::map<std::string, std::uint64_t> addresses;
};

// Nothing where the file cannot be read or is none.
std::optional<ElfSymbols> elf_symbols(const std::string& path,
                                      const std::vector<std::string>& names);

}  // namespace fathom::record
