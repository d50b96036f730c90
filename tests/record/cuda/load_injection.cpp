// Loads an injection library as the CUDA driver does, then ends as any program does.
#include <dlfcn.h>

#include <cstdio>

int main(int count, char** arguments) {
  void* library = count < 2 ? nullptr : dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  const auto start = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (start == nullptr) return 3;
  std::printf("InitializeInjection returned %d and the program goes on\n", start());
  return 0;
}
