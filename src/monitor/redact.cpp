#include "monitor/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

namespace fathom::monitor {
namespace {

constexpr std::string_view kMask = "***";

// Parts of names whose values are secret, letters and digits only.
constexpr std::array<std::string_view, 14> kSecretNames = {
    "password", "passwd",    "passphrase", "pwd",       "secret",        "token",  "apikey",
    "authkey",  "accesskey", "privatekey", "signature", "authorization", "cookie", "credential"};
// Whole names.
constexpr std::array<std::string_view, 6> kSecretWords = {"pass", "key", "auth",
                                                          "pw",   "pat", "sig"};
// How keys of well-known services begin.
constexpr std::array<std::string_view, 15> kKeyPrefixes = {
    "sk-", "hf_",  "ghp_", "gho_", "ghs_", "ghu_",   "github_pat_", "glpat-",
    "xox", "AKIA", "ASIA", "AIza", "eyJ",  "nvapi-", "wandb_v1_"};
// Not secret although a part of their name says so.
constexpr std::array<std::string_view, 10> kHarmless = {
    "maxtokens",    "tokens",        "tokenizer",     "numtokens",           "tokenlimit",
    "maxnewtokens", "tokenizermode", "tokenizerpath", "maxnumbatchedtokens", "keyframes"};

std::string letters_of(std::string_view name) {
  std::string letters;
  for (const unsigned char c : name) {
    if (std::isalnum(c) != 0) letters += static_cast<char>(std::tolower(c));
  }
  return letters;
}

bool names_a_secret(std::string_view name) {
  const std::string letters = letters_of(name);
  if (letters.empty() || std::ranges::find(kHarmless, letters) != kHarmless.end()) return false;
  if (std::ranges::find(kSecretWords, letters) != kSecretWords.end()) return true;
  if (letters.ends_with("key") && name.find_first_of("-_") != std::string_view::npos) return true;
  return std::ranges::any_of(kSecretNames, [&](std::string_view part) {
    return letters.find(part) != std::string::npos && !letters.ends_with("tokens") &&
           letters.find("tokenizer") == std::string::npos;
  });
}

bool looks_like_a_key(std::string_view word) {
  constexpr std::size_t kShortestKey = 16;
  return word.size() >= kShortestKey &&
         std::ranges::any_of(kKeyPrefixes,
                             [&](std::string_view prefix) { return word.starts_with(prefix); });
}

// "https://user:password@host" → "https://***@host"; secrets among "?name=value&…" likewise.
std::string redacted_url(std::string_view word) {
  const std::size_t scheme = word.find("://");
  const std::size_t begin = scheme + 3;
  const std::size_t end = std::min(word.find_first_of("/?#", begin), word.size());
  const std::size_t at = word.substr(begin, end - begin).rfind('@');
  std::string out(word.substr(0, begin));
  if (at != std::string_view::npos) {
    out += kMask;
    out += word.substr(begin + at, end - begin - at);
  } else {
    out += word.substr(begin, end - begin);
  }
  for (std::size_t from = end; from < word.size();) {
    const std::size_t next = std::min(word.find_first_of("?&#;", from + 1), word.size());
    const std::string_view part = word.substr(from, next - from);
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos &&
        (names_a_secret(part.substr(1, equals - 1)) || looks_like_a_key(part.substr(equals + 1)))) {
      out += part.substr(0, equals + 1);
      out += kMask;
    } else {
      out += part;
    }
    from = next;
  }
  return out;
}

struct Word {
  std::string_view text;
  std::string_view space_after;
};

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find_first_of(" \t\n", at), line.size());
    const std::size_t next = std::min(line.find_first_not_of(" \t\n", end), line.size());
    words.push_back({line.substr(at, end - at), line.substr(end, next - end)});
    at = next;
  }
  return words;
}

// One word by itself.
std::string redacted_word(std::string_view word) {
  const std::size_t separator = word.find_first_of("=:");
  const std::size_t url = word.find("://");
  if (separator != std::string_view::npos && separator + 1 < word.size() && separator != url &&
      names_a_secret(word.substr(0, separator))) {
    return std::string(word.substr(0, separator + 1)) + std::string(kMask);
  }
  if (url != std::string_view::npos) return redacted_url(word);
  if (separator != std::string_view::npos && looks_like_a_key(word.substr(separator + 1))) {
    return std::string(word.substr(0, separator + 1)) + std::string(kMask);
  }
  return looks_like_a_key(word) ? std::string(kMask) : std::string(word);
}

// "/home/alice/train.py" → "/home/***/train.py": whose program it is.
std::string without_names_of_people(std::string text) {
  for (const std::string_view folder : {"/home/", "/Users/"}) {
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at)) {
      at += folder.size();
      const std::size_t end = std::min(text.find_first_of("/ \t\n:,;=\"'", at), text.size());
      if (end > at) text.replace(at, end - at, kMask);
    }
  }
  return text;
}

bool is_scheme(std::string_view word) {
  const std::string letters = letters_of(word);
  return letters == "bearer" || letters == "basic";
}

}  // namespace

std::string redacted(std::string_view command_line) {
  std::string out;
  bool is_secret = false;  // the next word, whatever it is
  for (const Word& word : words_of(command_line)) {
    // "--password hunter2", "Authorization: Bearer abc"
    const bool is_name = word.text.starts_with('-') || word.text.ends_with(':');
    if (is_secret && !word.text.starts_with("--")) {
      const bool more_follows = is_scheme(word.text);
      out += more_follows ? word.text : kMask;
      is_secret = more_follows;
    } else {
      out += redacted_word(word.text);
      is_secret =
          (is_name && word.text.find('=') == std::string_view::npos && names_a_secret(word.text)) ||
          is_scheme(word.text);
    }
    out += word.space_after;
  }
  return without_names_of_people(std::move(out));
}

}  // namespace fathom::monitor
