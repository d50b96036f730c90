#pragma once

#include <cstddef>
#include <string_view>

namespace fathom::trace {

// A file in memory, to be read. If somebody cuts it off meanwhile, what is gone reads as zeros and
// `was_cut` says so: the signal that the system sends instead (SIGBUS) is caught for these
// addresses alone, and goes to whoever had it before for all others. At most 64 at a time; others
// are not guarded.
class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // False where it cannot be mapped (errno).
  bool map(int file, std::size_t size);

  std::string_view bytes() const { return {static_cast<const char*>(begin_), size_}; }
  bool was_cut() const;

 private:
  void* begin_ = nullptr;
  std::size_t size_ = 0;
  int place_ = -1;  // among the guarded
};

}  // namespace fathom::trace
