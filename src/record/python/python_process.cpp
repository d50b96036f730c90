#include "record/python/python_process.h"

#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace fathom::record {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFrames = 512;
constexpr std::size_t kMostThreads = 1024;
constexpr std::size_t kLongestName = 1000;
constexpr char kOwnedByC = 3;  // a frame that stands for C code between two others
constexpr std::uint64_t kThreadIdInPthread =
    720;  // of the C library (glibc, x86-64); checked before use

struct Mapping {
  std::uint64_t begin = 0;
  std::string path;
};

// Files that are mapped from their beginning and may be an interpreter.
std::vector<Mapping> python_files(pid_t process) {
  std::vector<Mapping> found;
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    const std::string path = line.substr(slash);
    if (fs::path(path).filename().string().find("python") == std::string::npos) continue;
    unsigned long long begin = 0;
    unsigned long long offset = 0;
    if (std::sscanf(line.c_str(), "%llx-%*x %*s %llx", &begin, &offset) != 2 || offset != 0)
      continue;
    if (found.empty() || found.back().path != path) found.push_back({begin, path});
  }
  return found;
}

// "libpython3.9.so.1.0", "python3.9" → 9; 0 where the name does not say.
int minor_in(const std::string& path) {
  constexpr std::string_view kPython = "python3.";
  const std::string name = fs::path(path).filename().string();
  const std::size_t at = name.find(kPython);
  return at == std::string::npos ? 0 : std::atoi(name.c_str() + at + kPython.size());
}

std::string link_of(pid_t process, const char* what) {
  std::error_code unknown;
  return fs::read_symlink(fmt::format("/proc/{}/{}", process, what), unknown).string();
}

void append_utf8(std::string& to, std::uint32_t c) {
  const auto add = [&](std::uint32_t byte) { to += static_cast<char>(byte); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xC0 | c >> 6);
    add(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    add(0xE0 | c >> 12);
    add(0x80 | (c >> 6 & 0x3F));
    add(0x80 | (c & 0x3F));
  } else {
    add(0xF0 | c >> 18);
    add(0x80 | (c >> 12 & 0x3F));
    add(0x80 | (c >> 6 & 0x3F));
    add(0x80 | (c & 0x3F));
  }
}

}  // namespace

std::uint32_t PythonNames::number_of(const std::string& name) {
  const auto [at, is_new] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  return at->second;
}

bool PythonProcess::read(std::uint64_t address, void* to, std::size_t bytes) const {
  const iovec local{to, bytes};
  const iovec remote{reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(process_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

std::uint64_t PythonProcess::pointer_at(std::uint64_t address) const {
  std::uint64_t pointer = 0;
  return read(address, &pointer, sizeof pointer) ? pointer : 0;
}

PythonProcess::State PythonProcess::look() {
  const std::string executable = link_of(process_, "exe");
  if (runtime_ != 0 && executable == executable_ &&
      pointer_at(runtime_ + layout_.interpreters_head) != 0) {
    return State::found;
  }
  executable_ = executable;
  working_folder_ = link_of(process_, "cwd");
  runtime_ = 0;
  functions_.clear();
  State state = State::none;
  for (const Mapping& mapping : python_files(process_)) {
    const auto symbols = elf_symbols(fmt::format("/proc/{}/root{}", process_, mapping.path),
                                     {"_PyRuntime", "Py_Version"});
    const int minor = minor_in(mapping.path);
    if (!symbols || !symbols->addresses.contains("_PyRuntime")) {
      if (!symbols || minor == 0 || minor >= kOldestPython) continue;
      minor_ = minor;  // it had none yet
      state = State::unknown_version;
      continue;
    }
    const std::uint64_t base = symbols->is_relocated ? mapping.begin : 0;
    minor_ = minor;
    runtime_ = base + symbols->addresses.at("_PyRuntime");
    std::uint64_t version = 0;  // 0x030B02F0; any other byte there tells whether it can be read
    const bool has_version = symbols->addresses.contains("Py_Version");
    if (!read(has_version ? base + symbols->addresses.at("Py_Version") : runtime_, &version,
              sizeof version)) {
      runtime_ = 0;
      return errno == EPERM ? State::not_allowed : State::none;
    }
    if (has_version) minor_ = static_cast<int>(version >> 16 & 0xFF);
    const PythonLayout* const known = python_layout(minor_);
    if (known != nullptr) layout_ = *known;
    if (known != nullptr && take_published_offsets()) return State::found;
    runtime_ = 0;
    state = State::unknown_version;
  }
  return state;
}

// From 3.13 on _PyRuntime begins with the offsets that differ most between releases; false where it
// says that the interpreter has no global lock, because its structures are others.
bool PythonProcess::take_published_offsets() {
  constexpr int kFirstToPublish = 13;
  constexpr std::string_view kCookie = "xdebugpy";
  if (minor_ < kFirstToPublish) return true;
  struct {
    std::array<char, 8> cookie;
    std::uint64_t version, is_without_lock;
    std::uint64_t runtime_size, finalizing, interpreters_head;
    std::uint64_t interpreter_size, id, next_interpreter, threads_head;
  } published{};
  if (!read(runtime_, &published, sizeof published)) return false;
  if (std::string_view(published.cookie.data(), published.cookie.size()) != kCookie) return false;
  layout_.interpreters_head = published.interpreters_head;
  layout_.next_interpreter = published.next_interpreter;
  layout_.threads_head = published.threads_head;
  return published.is_without_lock == 0;
}

std::optional<std::string> PythonProcess::text_at(std::uint64_t object) const {
  struct {
    std::uint64_t count, type;
    std::int64_t length;
    std::uint64_t hash;
    std::uint32_t state;
  } text{};
  if (object == 0 || !read(object, &text, sizeof text)) return {};
  const std::uint32_t kind = text.state >> 2 & 7;
  const bool is_compact = (text.state >> 5 & 1) != 0;
  const bool is_ascii = (text.state >> 6 & 1) != 0;
  if (!is_compact || text.length < 0 || text.length > static_cast<std::int64_t>(kLongestName) ||
      (kind != 1 && kind != 2 && kind != 4)) {
    return {};
  }
  std::string bytes(static_cast<std::size_t>(text.length) * kind, '\0');
  const std::uint64_t begin = object + (is_ascii ? layout_.ascii_text : layout_.other_text);
  if (!bytes.empty() && !read(begin, bytes.data(), bytes.size())) return {};
  if (is_ascii) return bytes;
  std::string utf8;
  for (std::size_t at = 0; at < bytes.size(); at += kind) {
    std::uint32_t c = 0;
    std::memcpy(&c, bytes.data() + at, kind);
    if (c > 0x10FFFF) return {};
    append_utf8(utf8, c);
  }
  return utf8;
}

// As short as PyTorch's profiler has it: from the folder of the package, or the working folder.
std::string PythonProcess::short_file(std::string file) const {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const std::size_t at = file.rfind(folder);
    if (at != std::string::npos) return file.substr(at + folder.size());
  }
  const std::size_t library = file.rfind("/lib/python3");
  if (library != std::string::npos) {
    const std::size_t slash = file.find('/', library + 5);
    if (slash != std::string::npos) return file.substr(slash + 1);
  }
  if (!working_folder_.empty() && file.starts_with(working_folder_ + "/")) {
    return file.substr(working_folder_.size() + 1);
  }
  return fs::path(file).filename().string();
}

// Frames lie close to each other, callers mostly below: one call of the system reads many, and all
// of them at the same time.
bool PythonProcess::read_frame(std::uint64_t address, Frame& frame) {
  if (address < window_begin_ || address + frame.size() > window_begin_ + window_.size()) {
    window_begin_ = address + frame.size() - std::min<std::uint64_t>(address, window_.size());
    if (!read(window_begin_, window_.data(), window_.size())) {
      window_begin_ = kNoWindow;
      return read(address, frame.data(), frame.size());
    }
  }
  std::memcpy(frame.data(), window_.data() + (address - window_begin_), frame.size());
  return true;
}

// The code objects of a thread's frames, innermost first.
bool PythonProcess::read_codes(std::uint64_t thread) {
  codes_.clear();
  window_begin_ = kNoWindow;
  std::uint64_t address = pointer_at(thread + layout_.frame);
  if (layout_.has_c_frame && address != 0) address = pointer_at(address + layout_.frame_in_c);
  for (Frame frame{}; address != 0;
       std::memcpy(&address, frame.data() + layout_.previous, sizeof address)) {
    if (codes_.size() >= kMostFrames || !read_frame(address, frame)) return false;
    if (layout_.owner != 0 && frame[layout_.owner] == kOwnedByC) continue;
    std::memcpy(&codes_.emplace_back(), frame.data() + layout_.code, sizeof(std::uint64_t));
  }
  return true;
}

bool PythonProcess::read_stack(std::uint64_t thread, PythonStack& stack) {
  if (!read_codes(thread) || codes_.empty()) return false;
  std::vector<CodeObject> objects(codes_.size());
  std::vector<iovec> places;
  for (const std::uint64_t code : codes_) {
    places.push_back({reinterpret_cast<void*>(code), sizeof(CodeObject)});
  }
  const std::size_t bytes = objects.size() * sizeof(CodeObject);
  const iovec local{objects.data(), bytes};
  if (process_vm_readv(process_, &local, 1, places.data(), places.size(), 0) !=
      static_cast<ssize_t>(bytes)) {
    return false;
  }
  for (std::size_t i = codes_.size(); i-- > 0;) {
    const auto function = function_of(codes_[i], objects[i]);
    if (!function) return false;
    stack.functions.push_back(*function);
  }
  return true;
}

std::optional<std::uint32_t> PythonProcess::function_of(std::uint64_t code,
                                                        const CodeObject& object) {
  const auto pointer = [&](std::uint64_t offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, object.data() + offset, sizeof value);
    return value;
  };
  Function found{.name = pointer(layout_.name), .file = pointer(layout_.file_name)};
  std::memcpy(&found.line, object.data() + layout_.first_line, sizeof found.line);
  const auto known = functions_.find(code);
  if (known != functions_.end() && known->second.name == found.name &&
      known->second.file == found.file && known->second.line == found.line) {
    return known->second.number;
  }
  const auto name = text_at(found.name);
  const auto file = text_at(found.file);
  if (!name || name->empty() || !file || found.line < 0) return {};
  found.number = names_.number_of(fmt::format("{}({}): {}", short_file(*file), found.line, *name));
  functions_[code] = found;
  return found.number;
}

pid_t PythonProcess::native_id(std::uint64_t thread) const {
  if (layout_.native_id != 0) {
    return static_cast<pid_t>(pointer_at(thread + layout_.native_id));
  }
  std::int32_t id = 0;
  const std::uint64_t pthread = pointer_at(thread + layout_.thread_id);
  std::error_code gone;
  const bool is_read = pthread != 0 && read(pthread + kThreadIdInPthread, &id, sizeof id);
  return is_read && id > 0 && fs::exists(fmt::format("/proc/{}/task/{}", process_, id), gone) ? id
                                                                                              : 0;
}

std::vector<PythonStack> PythonProcess::stacks() {
  std::vector<PythonStack> found;
  if (runtime_ == 0) return found;
  std::size_t threads = 0;
  for (std::uint64_t interpreter = pointer_at(runtime_ + layout_.interpreters_head);
       interpreter != 0; interpreter = pointer_at(interpreter + layout_.next_interpreter)) {
    for (std::uint64_t thread = pointer_at(interpreter + layout_.threads_head); thread != 0;
         thread = pointer_at(thread + layout_.next_thread)) {
      if (++threads > kMostThreads) return found;
      PythonStack stack;
      stack.thread = native_id(thread);
      if (stack.thread > 0 && read_stack(thread, stack) && !stack.functions.empty()) {
        found.push_back(std::move(stack));
      }
    }
    if (threads == 0) break;
  }
  return found;
}

}  // namespace fathom::record
