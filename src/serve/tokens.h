#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "serve/access.h"
#include "serve/digest.h"

// Tokens, and the logins that pages get in exchange for them.
namespace fathom::serve {

struct Identity {
  Role role = Role::none;
  std::string name = {};   // of the token, for the audit log
  Digest token_hash = {};  // which token it is
};

// Adds a random token to a file (made with mode 0600 where it is not there) and returns it: the
// file has its SHA-256 alone, one line per token: role, hash, name. Throws base::Error.
std::string add_token(const std::string& path, Role role, const std::string& name);

class Tokens {
 public:
  // A token for this run alone, kept nowhere; returns it.
  std::string make_one(Role role, const std::string& name);
  // Those of a file that nobody but its owner may read. It is read again when it changes: who takes
  // a line out of it revokes that token. Throws base::Error, and where there is none in it.
  void use_file(const std::string& path);
  // At most once per second, so that it may be called with every request.
  void reread_if_changed(std::chrono::steady_clock::time_point now);

  std::optional<Identity> find(std::string_view token) const;
  bool has(const Digest& token_hash) const;

 private:
  void read_file();

  std::vector<Identity> of_this_run_;
  std::vector<Identity> of_file_;
  std::string path_;
  std::int64_t file_stamp_ = 0;
  std::chrono::steady_clock::time_point looked_at_ = {};
};

// Cookies by their hashes. A login ends after a day, when its token is revoked, or by logging out.
class Logins {
 public:
  using Time = std::chrono::steady_clock::time_point;

  std::string start(const Identity& identity, Time now);  // returns the cookie's value
  std::optional<Identity> find(std::string_view cookie, const Tokens& tokens, Time now) const;
  void end(std::string_view cookie);

 private:
  struct Login {
    Identity identity;
    Time ends;
  };
  struct HashOfDigest {
    std::size_t operator()(const Digest& digest) const;
  };
  std::unordered_map<Digest, Login, HashOfDigest> logins_;
};

}  // namespace fathom::serve
