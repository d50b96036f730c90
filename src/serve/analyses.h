#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "serve/files.h"

// What Fathom says of the files of the folder: the same that its commands write.
namespace fathom::serve {

enum class Document { flame, memory, timeline, kernels, hta, page };

// There is no file of that name that may be seen.
struct NoSuchFile {};

// Keeps the traces that were opened last, and what was made of them, within so many bytes; before
// another is read, room is made for about what it will take. Any
// number of threads may ask; one of them works on a trace at a time.
class Analyses {
 public:
  Analyses(const Folder& folder, std::size_t most_bytes);
  ~Analyses();

  // Throws NoSuchFile, and base::Error where the file is no trace.
  std::shared_ptr<const std::string> document(const std::string& name, Document which);

  std::size_t bytes() const;  // that are kept now
  std::size_t opened() const;

 private:
  struct Opened;
  std::shared_ptr<Opened> opened_as(const std::string& name, const FileInfo& now);
  void make_room(std::size_t bytes);
  void keep_within(std::size_t most_bytes);  // with the lock

  const Folder& folder_;
  std::size_t most_bytes_;
  mutable std::mutex lock_;
  std::list<std::shared_ptr<Opened>> kept_;  // used last at the front
};

}  // namespace fathom::serve
