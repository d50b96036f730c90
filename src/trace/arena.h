#pragma once

#include <cstddef>
#include <memory_resource>
#include <vector>

namespace fathom::trace {

// Memory for rows that are written once and thrown away together: large pages where the system has
// them, as first touching small ones would cost more than filling them.
class Arena final : public std::pmr::memory_resource {
 public:
  Arena() = default;
  ~Arena() override;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* /*at*/, std::size_t /*bytes*/, std::size_t /*alignment*/) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  struct Chunk {
    void* at;
    std::size_t size;
  };
  std::vector<Chunk> chunks_;
  char* free_ = nullptr;
  std::size_t room_ = 0;
};

// Asks for large pages for memory that is about to be filled for the first time.
void prefer_large_pages(void* at, std::size_t bytes);

}  // namespace fathom::trace
