#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The folder that the user allowed, and nothing outside of it: names are walked part by part from
// its descriptor, no symbolic link is followed, and what is hidden (".git", "..") is not there.
namespace fathom::serve {

struct FileInfo {
  std::string name;  // within the folder: "ranks/0.json.gz"
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;  // since 1970
  bool is_openable = false;      // its content is of a format that Fathom reads
};

struct Listing {
  std::vector<FileInfo> files;  // newest first
  bool is_complete = true;      // false where there are more
};

// A descriptor that is closed in the end.
class OpenFile {
 public:
  explicit OpenFile(int file = -1) : file_(file) {}
  ~OpenFile();
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;

  int get() const { return file_; }
  bool is_open() const { return file_ >= 0; }

 private:
  int file_;
};

class Folder {
 public:
  static constexpr std::size_t kMostListed = 1000;

  explicit Folder(const std::string& path);  // throws base::Error

  Listing list();
  std::optional<FileInfo> look_at(const std::string& name);
  // A regular file of that name; not open where there is none that may be seen.
  OpenFile open(std::string_view name) const;
  int directory() const { return directory_.get(); }

 private:
  struct Seen {
    std::int64_t bytes = 0, modified_ns = 0;
    bool is_openable = false;
  };
  void list_into(const OpenFile& directory, const std::string& prefix, int depth, Listing& listing);
  bool is_openable(int file, const std::string& name, const FileInfo& info);

  OpenFile directory_;
  std::mutex lock_;
  std::map<std::string, Seen> seen_;  // what was found out of files that have not changed since
};

// Whether it is a log of torch.compile, which is no trace. Throws base::Error where it is empty.
bool is_compile_log(const OpenFile& file, const std::string& name);

// Whether a file may be called that: no folders, nothing hidden, nothing that a terminal acts on.
bool is_plain_file_name(std::string_view name);

// A file that arrives piece by piece. It has its name when all of it is there; until then it is
// hidden, and gone where that never happens.
class Upload {
 public:
  Upload(const Folder& folder, std::string name);
  ~Upload();
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  bool take(std::string_view piece);  // false where it cannot be kept
  // Gives it its name, or that name with a number where it is taken: nothing is overwritten.
  // Returns the name; nothing where that failed, and problem() says why.
  std::optional<std::string> finish();
  const std::string& problem() const { return problem_; }

 private:
  bool fail();

  const Folder& folder_;
  std::string name_;
  std::string temporary_;
  OpenFile file_;
  std::string problem_;
};

}  // namespace fathom::serve
