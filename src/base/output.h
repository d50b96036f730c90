#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace fathom::base {

// A file that appears whole or not at all: written beside its place without a name, moved there by
// `finish`, gone if that is never reached, whatever ends the process. A file that was there keeps
// its mode, a symbolic link its place; a pipe or device is written to. Packs as the end of the name
// says (.gz, .zst). Every failure is an Error that names the file.
class Output {
 public:
  explicit Output(const std::string& path);
  // What is written to a descriptor of the caller's, which stays open; `name` is for messages.
  Output(int descriptor, const std::string& name);
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

  void open_temporary();
  void name_temporary();
  void flush();
  void write_all(std::string_view bytes);

  std::string path_;
  std::string target_;     // where the links of `path_` lead
  std::string temporary_;  // the name that the file has beside its place, if it has one
  bool is_in_place_ = false;
  int file_ = -1;
  std::string buffer_;
  std::unique_ptr<Packer> packer_;
};

// Throws what Output would, for a file that cannot be written: before there is work to lose.
void expect_writable(const std::string& path);

// Says why a file cannot be written, by the number of the error, and what to do.
[[noreturn]] void fail_to_write(const std::string& path, int why);

}  // namespace fathom::base
