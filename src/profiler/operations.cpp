#include "profiler/operations.h"

#include <mutex>

#include "base/string_pool.h"
#include "profiler/live_file.h"

namespace fathom::detail {
namespace {

struct Names {
  std::mutex mutex;
  base::StringPool pool;  // its id 0 is "", which is why 0 is none
  LiveFile* live = nullptr;
};

// Never destroyed: scopes in static destructors still need it.
Names& names() {
  static Names& all = *new Names;
  return all;
}

}  // namespace

OperationId operation_id(std::string_view name) noexcept {
  try {
    Names& all = names();
    const std::lock_guard lock(all.mutex);
    if (name.empty()) name = "(unnamed)";
    if (all.pool.size() > kMaxOperations) name = kOtherOperations;
    const std::size_t known = all.pool.size();
    const OperationId id = all.pool.intern(name);
    if (all.live != nullptr && id >= known) all.live->add_name(id, name);
    return id;
  } catch (...) {
    return 0;
  }
}

std::string operation_name(OperationId operation) {
  Names& all = names();
  const std::lock_guard lock(all.mutex);
  return std::string(all.pool.view(operation));
}

void set_live_names(LiveFile* live) noexcept {
  Names& all = names();
  const std::lock_guard lock(all.mutex);
  all.live = live;
  for (OperationId id = 1; live != nullptr && id < all.pool.size(); ++id) {
    live->add_name(id, all.pool.view(id));
  }
}

void lock_operations() noexcept {
  names().mutex.lock();
}
void unlock_operations() noexcept {
  names().mutex.unlock();
}

}  // namespace fathom::detail
