#pragma once

#include <new>

namespace fathom::record::opencl {

// A global that is made when the library is loaded and never destroyed: programs release queues
// and memory in static destructors that run after ours would have.
template <typename T>
class Forever {
 public:
  Forever() { new (&storage_) T(); }
  T* operator->() noexcept { return get(); }
  T& operator*() noexcept { return *get(); }

 private:
  T* get() noexcept { return std::launder(reinterpret_cast<T*>(&storage_)); }
  alignas(T) unsigned char storage_[sizeof(T)] = {};
};

}  // namespace fathom::record::opencl
