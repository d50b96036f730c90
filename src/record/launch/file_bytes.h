#pragma once

#include <string>
#include <string_view>

namespace fathom::record {

// An open file. Throws base::Error where it cannot be opened.
class File {
 public:
  File(const std::string& path, int flags);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return file_; }

 private:
  int file_;
};

// Both throw base::Error that names `path`, the file that is written.
void write_all(const File& to, const std::string& path, std::string_view bytes);
void append_file(const File& to, const std::string& path, const File& from);  // from where it is

}  // namespace fathom::record
