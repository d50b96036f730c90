#include "serve/tokens.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/error.h"
#include "base/shell_word.h"

namespace fathom::serve {
namespace {

constexpr std::string_view kTokenBegin = "fathom_";
constexpr std::size_t kMostLogins = 1000;
constexpr std::chrono::hours kLoginTime{24};
constexpr const char* kTokenFileHead =
    "# Tokens of fathom serve: role, SHA-256 of the token, name. A token is revoked by taking its "
    "line out.\n";

std::int64_t stamp_of(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return 0;
  return file.st_mtim.tv_sec * 1'000'000'000 + file.st_mtim.tv_nsec + file.st_size +
         static_cast<std::int64_t>(file.st_ino);
}

void expect_private(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0)
    throw base::Error(path, std::strerror(errno),
                      "Make a token first: fathom token admin --file " + base::shell_word(path));
  if (S_ISDIR(file.st_mode)) throw base::Error(path, "is a directory", "Name a file in it");
  if ((file.st_mode & 077) != 0)
    throw base::Error(path, "others may read or change it", "chmod 600 " + base::shell_word(path));
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
}

std::vector<Identity> tokens_of(const std::string& path) {
  std::vector<Identity> tokens;
  std::ifstream file(path);
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string role_name, hex, name, more;
    words >> role_name >> hex >> name;
    const auto role = role_named(role_name);
    const auto hash = digest_of_hex(hex);
    if (!role || !hash || name.empty() || words >> more) {
      throw base::Error(fmt::format("{}, line {}", path, number), "not a token",
                        "A line is: role (metrics, viewer or admin), SHA-256, name");
    }
    tokens.push_back({*role, name, *hash});
  }
  return tokens;
}

}  // namespace

std::string add_token(const std::string& path, Role role, const std::string& name) {
  if (!is_plain_name(name))
    throw base::Error(name, "not a name for a token", "Use letters, digits, - _ and .");
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(path, ignored);
  if (is_there) {
    expect_private(path);
    for (const Identity& other : tokens_of(path)) {
      if (other.name == name)
        throw base::Error(path, "has a token named " + name, "Choose another --name");
    }
  }
  const std::string token = std::string(kTokenBegin) + random_secret();
  const std::string line = fmt::format("{}{} {} {}\n", is_there ? "" : kTokenFileHead,
                                       name_of(role), to_hex(sha256(token)), name);
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) throw base::Error(path, std::strerror(errno));
  const bool is_written =
      write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
      fsync(file) == 0;
  close(file);
  if (!is_written) throw base::Error(path, "cannot be written");
  return token;
}

std::string Tokens::make_one(Role role, const std::string& name) {
  const std::string token = std::string(kTokenBegin) + random_secret();
  of_this_run_.push_back({role, name, sha256(token)});
  return token;
}

void Tokens::use_file(const std::string& path) {
  path_ = path;
  read_file();
  if (of_file_.empty())
    throw base::Error(path, "no token in it",
                      "Make one: fathom token admin --file " + base::shell_word(path));
}

void Tokens::read_file() {
  file_stamp_ = stamp_of(path_);
  of_file_.clear();  // what cannot be read any more allows nothing any more
  expect_private(path_);
  of_file_ = tokens_of(path_);
}

void Tokens::reread_if_changed(std::chrono::steady_clock::time_point now) {
  if (path_.empty() || now - looked_at_ < std::chrono::seconds(1)) return;
  looked_at_ = now;
  if (stamp_of(path_) == file_stamp_) return;
  try {
    read_file();
  } catch (const base::Error&) {  // nobody is let in by it until it is right again
  }
}

std::optional<Identity> Tokens::find(std::string_view token) const {
  if (token.empty()) return {};
  const Digest hash = sha256(token);
  const Identity* found = nullptr;
  for (const auto* const list : {&of_this_run_, &of_file_}) {
    for (const Identity& one : *list) {  // all of them, so that time tells nothing
      if (are_equal(one.token_hash, hash)) found = &one;
    }
  }
  return found == nullptr ? std::nullopt : std::optional(*found);
}

bool Tokens::has(const Digest& token_hash) const {
  const auto is_it = [&](const Identity& one) { return are_equal(one.token_hash, token_hash); };
  return std::ranges::any_of(of_this_run_, is_it) || std::ranges::any_of(of_file_, is_it);
}

std::string Logins::start(const Identity& identity, Time now) {
  std::erase_if(logins_, [&](const auto& each) { return each.second.ends <= now; });
  if (logins_.size() >= kMostLogins) {
    logins_.erase(
        std::ranges::min_element(logins_, {}, [](const auto& each) { return each.second.ends; }));
  }
  std::string cookie = random_secret();
  logins_[sha256(cookie)] = {identity, now + kLoginTime};
  return cookie;
}

std::optional<Identity> Logins::find(std::string_view cookie, const Tokens& tokens,
                                     Time now) const {
  if (cookie.empty()) return {};
  // By its hash: how long the search takes tells nothing of the cookies that there are.
  const auto at = logins_.find(sha256(cookie));
  if (at == logins_.end() || at->second.ends <= now || !tokens.has(at->second.identity.token_hash))
    return {};
  return at->second.identity;
}

void Logins::end(std::string_view cookie) {
  logins_.erase(sha256(cookie));
}

std::size_t Logins::HashOfDigest::operator()(const Digest& digest) const {
  std::size_t hash = 0;
  std::memcpy(&hash, digest.data(), sizeof hash);
  return hash;
}

}  // namespace fathom::serve
