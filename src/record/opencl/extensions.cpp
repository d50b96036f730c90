#include "record/opencl/extensions.h"

#include <array>
#include <atomic>
#include <cstring>

#include "record/opencl/driver.h"
#include "record/opencl/entry_points.h"

namespace fathom::record::opencl {
namespace {

constexpr auto kExtensions = static_cast<std::size_t>(Extension::count);
constexpr std::size_t kPlatforms = 16;

struct Original {
  std::atomic<cl_platform_id> platform = nullptr;
  std::atomic<void*> function = nullptr;
};
constinit std::array<std::array<Original, kPlatforms>, kExtensions> originals = {};

// False where there are more platforms than anybody has: they keep their own function.
bool remember(Extension which, cl_platform_id platform, void* function) noexcept {
  for (Original& known : originals[static_cast<std::size_t>(which)]) {
    cl_platform_id holder = nullptr;
    if (known.platform.compare_exchange_strong(holder, platform) || holder == platform) {
      known.function.store(function);
      return true;
    }
  }
  return false;
}

void* ours_in_place_of(cl_platform_id platform, const char* name, void* theirs) noexcept {
  if (theirs == nullptr || name == nullptr) return theirs;
  for (std::size_t i = 0; i < kExtensions; ++i) {
    const auto which = static_cast<Extension>(i);
    const ExtensionEntry entry = extension_entry(which);
    if (std::strcmp(entry.name, name) != 0) continue;
    return remember(which, platform, theirs) ? entry.ours : theirs;
  }
  return theirs;
}

}  // namespace

void* CL_API_CALL get_extension_address_for_platform(cl_platform_id platform, const char* name) {
  return ours_in_place_of(platform, name,
                          driver.clGetExtensionFunctionAddressForPlatform(platform, name));
}

// Which platform it is of is not said. With one platform that is no question; with several, the
// function is handed out as it is, because ours could not tell whose original to call.
void* CL_API_CALL get_extension_address(const char* name) {
  void* const theirs = driver.clGetExtensionFunctionAddress(name);
  cl_platform_id platform = nullptr;
  cl_uint count = 0;
  if (driver.clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || count != 1) return theirs;
  return ours_in_place_of(platform, name, theirs);
}

void* original(Extension which, cl_platform_id platform) noexcept {
  for (const Original& known : originals[static_cast<std::size_t>(which)]) {
    if (known.platform.load() == platform) return known.function.load();
  }
  return nullptr;
}

}  // namespace fathom::record::opencl
