#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace fathom::base {

// A file that appears whole or not at all: written beside its place, moved there by `finish`, gone
// if that is never reached. Packs as the end of the name says (.gz, .zst). Every failure is a
// Error that names the file.
class Output {
 public:
  explicit Output(const std::string& path);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Text collects here; `flush_if_full` after each piece keeps it small.
  std::string& buffer() { return buffer_; }
  void flush_if_full() {
    if (buffer_.size() >= kBufferBytes) flush();
  }
  void finish();

 private:
  static constexpr std::size_t kBufferBytes = 1 << 18;
  class Packer;
  class Gzip;
  class Zstd;

  void flush();
  void write_all(std::string_view bytes);
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;
  std::string temporary_;  // empty where the file is written in its place
  int file_ = -1;
  std::string buffer_;
  std::unique_ptr<Packer> packer_;
};

}  // namespace fathom::base
