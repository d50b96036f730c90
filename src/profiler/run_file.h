#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace fathom::detail {

// A file as the system knows it, under whatever name or number.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// A file that bytes are added to, in large writes. One thread at a time. The program around us may
// close any descriptor and give its number to a file of its own: nothing is written to a descriptor
// before it was seen to be ours still, and one that is not is opened again.
class RunFile {
 public:
  // "%p" in the path stands for the process id, and "%%" beside one for "%"; such a file is never
  // written over, and its folder is made where it is missing. A file that another process is
  // writing is left alone, and one with the process id in its name is written instead. Throws
  // base::Error.
  explicit RunFile(const std::string& path);
  // Goes on with a file that nobody writes any more, after its first `bytes`. Throws base::Error.
  RunFile(const std::string& path, std::int64_t bytes);
  ~RunFile();
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  // Room for so many bytes, at most kBuffer, of which `used` are then added by advance.
  std::uint8_t* reserve(std::size_t bytes) {
    if (bytes > kBuffer - size_) [[unlikely]]
      flush();
    return buffer_.get() + size_;
  }
  void advance(std::size_t used) { size_ += used; }
  void append(std::string_view bytes);

  void flush();  // to the system: from then on it survives the end of the process, however it ends
  const std::string& path() const { return path_; }
  const std::string& absolute_path() const { return absolute_path_; }
  std::int64_t written() const { return written_; }
  // Where the program closed it and gave up the right to open it again. Told on standard error,
  // unless somebody else keeps what cannot be written.
  bool is_lost() const { return is_lost_; }
  void be_quiet_when_lost() { is_quiet_when_lost_ = true; }
  void abandon() noexcept;  // in a forked child: nothing more is written

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 18;

  void write_all(const char* bytes, std::size_t size);
  void reserve_disk();
  bool is_ours() const;
  bool open_again();
  void lose();
  void give_up(const char* reason);

  std::string path_;
  std::string absolute_path_;  // the program may change its folder
  int fd_ = -1;
  FileIdentity identity_;
  FileIdentity standard_error_;  // where it went when this began
  bool failed_ = false;          // said so once; what comes is thrown away
  bool is_lost_ = false;
  bool is_quiet_when_lost_ = false;
  std::unique_ptr<std::uint8_t[]> buffer_;
  std::size_t size_ = 0;
  std::int64_t written_ = 0;
  std::int64_t reserved_ = 0;  // on the disk, beyond the file's end
};

}  // namespace fathom::detail
