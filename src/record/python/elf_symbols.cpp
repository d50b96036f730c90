#include "record/python/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>

namespace fathom::record {
namespace {

// Reads a file piece by piece: libraries are large, and three of their tables are all that counts.
class ElfFile {
 public:
  explicit ElfFile(const std::string& path) : file_(path, std::ios::binary) {}

  template <typename Item>
  std::vector<Item> items(std::uint64_t offset, std::uint64_t bytes) {
    constexpr std::uint64_t kMostBytes = 64U << 20;
    std::vector<Item> found(std::min(bytes, kMostBytes) / sizeof(Item));
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(reinterpret_cast<char*>(found.data()),
               static_cast<std::streamsize>(found.size() * sizeof(Item)));
    if (!file_) found.clear();
    return found;
  }

 private:
  std::ifstream file_;
};

std::uint64_t first_loaded_byte(ElfFile& file, const Elf64_Ehdr& header) {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  const auto segments =
      file.items<Elf64_Phdr>(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD) first = std::min(first, segment.p_vaddr);
  }
  return first == std::numeric_limits<std::uint64_t>::max() ? 0 : first & ~std::uint64_t{4095};
}

}  // namespace

std::optional<ElfSymbols> elf_symbols(const std::string& path,
                                      const std::vector<std::string>& names) {
  ElfFile file(path);
  const auto headers = file.items<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr));
  if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      headers[0].e_ident[EI_CLASS] != ELFCLASS64) {
    return {};
  }
  const Elf64_Ehdr& header = headers[0];
  ElfSymbols found;
  found.is_relocated = header.e_type == ET_DYN;
  const std::uint64_t base = found.is_relocated ? first_loaded_byte(file, header) : 0;
  const auto sections =
      file.items<Elf64_Shdr>(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    const auto text = file.items<char>(strings.sh_offset, strings.sh_size);
    for (const Elf64_Sym& symbol : file.items<Elf64_Sym>(section.sh_offset, section.sh_size)) {
      if (symbol.st_name >= text.size() || symbol.st_shndx == SHN_UNDEF) continue;
      const char* const name = text.data() + symbol.st_name;
      const std::size_t length = strnlen(name, text.size() - symbol.st_name);
      const auto known = std::find(names.begin(), names.end(), std::string_view(name, length));
      if (known != names.end()) found.addresses[*known] = symbol.st_value - base;
    }
  }
  return found;
}

}  // namespace fathom::record
