#include <functional>
#include <utility>

#include "devices/backend.h"

namespace fathom::devices {
namespace {

// A backend that may have nothing to look at yet.
class LateBackend : public Backend {
 public:
  using Make = std::function<std::unique_ptr<Backend>()>;
  LateBackend(const char* name, Make make) : name_(name), make_(std::move(make)) {}

  const char* name() const override { return name_; }
  Look look(const Wanted& wanted, bool discover) override {
    if (!backend_ && discover) backend_ = make_();
    if (!backend_) return {.devices = {}, .errors = {}, .is_here = false};
    return backend_->look(wanted, discover);
  }

 private:
  const char* name_;
  Make make_;
  std::unique_ptr<Backend> backend_;
};

// NVIDIA's library; where that does not load, its program, for as long as that is so.
class NvidiaBackend : public Backend {
 public:
  explicit NvidiaBackend(Roots roots) : roots_(std::move(roots)) {}

  const char* name() const override { return !library_ && program_ ? program_->name() : "nvml"; }
  Look look(const Wanted& wanted, bool discover) override {
    if (!library_ && discover) {
      library_ = nvml_backend(roots_);
      if (library_) program_.reset();
      if (!library_ && !program_) program_ = nvidia_smi_backend(roots_);
    }
    if (library_) return library_->look(wanted, discover);
    if (program_) return program_->look(wanted, discover);
    return {.devices = {}, .errors = {}, .is_here = false};
  }

 private:
  const Roots roots_;
  std::unique_ptr<Backend> library_, program_;
};

}  // namespace

std::vector<std::unique_ptr<Backend>> backends(const Choice& choice, const Roots& roots) {
  std::vector<std::unique_ptr<Backend>> all;
  if (choice.is_demo) {
    all.push_back(demo_backend());
    return all;
  }
  const auto add = [&](const char* name, std::unique_ptr<Backend> (*make)(const Roots&)) {
    all.push_back(std::make_unique<LateBackend>(name, [make, roots] { return make(roots); }));
  };
  if (choice.nvidia) all.push_back(std::make_unique<NvidiaBackend>(roots));
  add("amdgpu", amd_backend);
  add("intel", intel_backend);
  if (choice.opencl) add("opencl", opencl_backend);
  return all;
}

}  // namespace fathom::devices
