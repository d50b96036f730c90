#pragma once

#include <cstdint>
#include <memory>

#include "trace/read/input.h"

namespace fathom::trace {

// The content of an Input from beginning to end. One thread at a time.
class ContentStream {
 public:
  explicit ContentStream(const Input& input);
  ~ContentStream();
  ContentStream(const ContentStream&) = delete;
  ContentStream& operator=(const ContentStream&) = delete;

  // Fills `to` with the next bytes; fewer than `size` only at the end.
  std::size_t read(char* to, std::size_t size);

  // True once unpacking had to stop before the packed data said that it ends.
  bool is_damaged() const;

  // How much of the stored bytes has been used, for progress.
  std::uint64_t stored_position() const;

  class Unpacker;

 private:
  std::unique_ptr<Unpacker> unpacker_;
};

}  // namespace fathom::trace
