#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "trace/read/mapped_file.h"

namespace fathom::trace {

enum class Packing : std::uint8_t { none, gzip, zstd };

// A file to read, or bytes in memory, packed or not; the content tells, not the name. "Content"
// below is what comes out after unpacking. All of it may be used from several threads at a time.
class Input {
 public:
  // Throws base::Error for what is missing, unreadable, a directory or empty. What cannot be read
  // at any offset (a pipe) is first copied to a temporary file, and so is the one file of a ZIP
  // archive.
  static std::shared_ptr<const Input> open(const std::string& path);
  // What is left to read of a descriptor of the caller's.
  static std::shared_ptr<const Input> open(int descriptor, const std::string& name);
  static std::shared_ptr<const Input> from_bytes(std::string bytes, std::string name = "input");

  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  const std::string& name() const { return name_; }
  bool is_file() const { return file_ >= 0; }
  Packing packing() const { return packing_; }
  std::uint64_t stored_size() const { return stored_size_; }  // before unpacking

  // The first bytes of the content, at most 64 KB.
  const std::string& head() const { return head_; }

  // All of the content, valid as long as the Input. A plain file is mapped; a packed one is
  // unpacked into an unlinked temporary file first, at the first call, and that is mapped.
  std::string_view view() const;

  // True where the file became shorter since, so that a part of `view` is zeros.
  bool was_cut() const { return mapped_.was_cut(); }

  // True where the archive that it came in is cut off or damaged.
  bool is_damaged() const { return is_damaged_; }

  // Bytes as they are stored; fewer than asked only at the end. Throws base::Error.
  std::size_t read_stored(std::uint64_t offset, char* to, std::size_t size) const;

 private:
  Input() = default;
  void take_file();
  void look_at_head();
  [[noreturn]] void fail_as_empty() const;
  void take_out_of_zip();
  std::string_view map(int file, std::uint64_t size) const;

  std::string name_;
  std::string bytes_;  // of an Input without a file
  int file_ = -1;
  std::uint64_t stored_size_ = 0;
  Packing packing_ = Packing::none;
  bool is_damaged_ = false;
  std::string head_;

  mutable std::mutex view_mutex_;
  mutable bool has_view_ = false;
  mutable std::string_view view_;
  mutable MappedFile mapped_;
};

}  // namespace fathom::trace
