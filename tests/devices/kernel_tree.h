#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "devices/backend.h"

namespace fathom::devices {

// Folders like /sys, /proc and /usr/share, in a folder of one test, gone at its end.
class KernelTree {
 public:
  using Files = std::map<std::string, std::string>;  // by name; what is in each, without line break

  KernelTree() {
    static std::atomic<int> number = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("kernel_tree_" + std::to_string(::getpid()) + "_" + std::to_string(number++));
    std::filesystem::create_directories(folder_);
  }
  ~KernelTree() { std::filesystem::remove_all(folder_); }
  KernelTree(const KernelTree&) = delete;
  KernelTree& operator=(const KernelTree&) = delete;

  Roots roots() const { return {.sys = path("sys"), .proc = path("proc"), .share = path("share")}; }
  std::string path(const std::string& name) const { return folder_ / name; }

  void write(const std::string& name, const std::string& content) const {
    const std::filesystem::path file = folder_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }
  void remove(const std::string& name) const { std::filesystem::remove_all(folder_ / name); }

  // A GPU at this address: `files` of its folder, with "hwmon/hwmon3/…", "drm/card0/…" and so on.
  // Files end in a line break, as those of the kernel do; "gpu_metrics" does not.
  void gpu(const std::string& address, const std::string& driver, const Files& files) const {
    const std::string folder = pci(address);
    write(folder + "/class", "0x030000\n");
    write(folder + "/power/runtime_status", "active\n");
    for (const auto& [name, content] : files) {
      write(folder + "/" + name, name == "gpu_metrics" ? content : content + "\n");
    }
    bind(address, driver);
  }
  void bind(const std::string& address, const std::string& driver) const {
    const std::filesystem::path link = folder_ / (pci(address) + "/driver");
    std::filesystem::remove(link);
    if (!driver.empty()) std::filesystem::create_symlink("../../drivers/" + driver, link);
  }
  void set(const std::string& address, const std::string& file, const std::string& content) const {
    write(pci(address) + "/" + file, content + "\n");
  }
  static std::string pci(const std::string& address) { return "sys/bus/pci/devices/" + address; }

  // A program, and what its descriptors are: node under /dev/dri, and text of its fdinfo.
  void program(int pid, const std::string& command,
               const std::map<int, std::pair<std::string, std::string>>& descriptors) const {
    const std::string folder = "proc/" + std::to_string(pid);
    write(folder + "/cmdline", command + '\0');
    write(folder + "/stat",
          std::to_string(pid) + " (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 0");
    std::filesystem::create_directories(folder_ / (folder + "/fd"));
    for (const auto& [number, node_and_text] : descriptors) {
      const std::filesystem::path link = folder_ / (folder + "/fd/" + std::to_string(number));
      std::filesystem::remove(link);
      std::filesystem::create_symlink("/dev/" + node_and_text.first, link);
      write(folder + "/fdinfo/" + std::to_string(number), node_and_text.second);
    }
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace fathom::devices
