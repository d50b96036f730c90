#include "serve/client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace fathom::serve {
namespace {

// Nothing waits for longer than this; a test that gets here has failed.
constexpr int kPatienceSeconds = 30;

bool begins_like(std::string_view text, std::string_view begin) {
  return text.size() >= begin.size() && strncasecmp(text.data(), begin.data(), begin.size()) == 0;
}

}  // namespace

std::string Answer::header(std::string_view name) const {
  std::size_t at = 0;
  while (at < headers.size()) {
    const std::size_t end = std::min(headers.find("\r\n", at), headers.size());
    const std::string_view line = std::string_view(headers).substr(at, end - at);
    if (begins_like(line, name) && line.substr(name.size()).starts_with(": "))
      return std::string(line.substr(name.size() + 2));
    at = end + 2;
  }
  return {};
}

Client::Client(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval patience = {.tv_sec = kPatienceSeconds, .tv_usec = 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return;
  close(socket_);
  socket_ = -1;
}

Client::~Client() {
  if (socket_ >= 0) close(socket_);
}

bool Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Client::receive() {
  char buffer[65536];
  const ssize_t size = recv(socket_, buffer, sizeof buffer, 0);
  if (size <= 0) return false;
  received_.append(buffer, static_cast<std::size_t>(size));
  return true;
}

Answer Client::answer() {
  Answer answer;
  std::size_t end = 0;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!receive()) return answer;
  }
  answer.headers = received_.substr(0, end);
  received_.erase(0, end + 4);
  answer.status = std::atoi(answer.headers.c_str() + std::string_view("HTTP/1.1 ").size());
  const auto length = std::strtoull(answer.header("Content-Length").c_str(), nullptr, 10);
  while (received_.size() < length && receive()) {
  }
  answer.body = received_.substr(0, length);
  received_.erase(0, length);
  return answer;
}

std::string Client::line() {
  std::size_t end = 0;
  while ((end = received_.find('\n')) == std::string::npos) {
    if (!receive()) return {};
  }
  const std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

bool Client::is_closed() {
  do {
    errno = 0;
  } while (receive());
  return errno != EAGAIN && errno != EWOULDBLOCK;  // which are for who lost patience
}

std::string as_sent(std::uint16_t port, const Question& question) {
  std::string text = fmt::format("{} {} HTTP/1.1\r\n", question.method, question.target);
  bool has_host = false;
  for (const std::string& header : question.headers) {
    has_host |= begins_like(header, "Host:");
    text += header + "\r\n";
  }
  if (!has_host) text += fmt::format("Host: 127.0.0.1:{}\r\n", port);
  if (!question.token.empty()) text += fmt::format("Authorization: Bearer {}\r\n", question.token);
  if (!question.body.empty() || question.method == "POST")
    text += fmt::format("Content-Length: {}\r\n", question.body.size());
  return text + "\r\n" + question.body;
}

Answer ask(std::uint16_t port, const Question& question) {
  Client client(port);
  client.send(as_sent(port, question));
  return client.answer();
}

}  // namespace fathom::serve
