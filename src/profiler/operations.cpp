#include "profiler/operations.h"

#include <mutex>

#include "base/string_pool.h"

namespace fathom::detail {
namespace {

struct Names {
  std::mutex mutex;
  base::StringPool pool;  // its id 0 is "", which is why 0 is none
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
    return all.pool.intern(name);
  } catch (...) {
    return 0;
  }
}

std::string operation_name(OperationId operation) {
  Names& all = names();
  const std::lock_guard lock(all.mutex);
  return std::string(all.pool.view(operation));
}

void lock_operations() noexcept {
  names().mutex.lock();
}
void unlock_operations() noexcept {
  names().mutex.unlock();
}

}  // namespace fathom::detail
