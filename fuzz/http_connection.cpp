// Any bytes sent to the server through a socket, then the end of the connection: what it answers is
// HTTP, it closes the connection, and it serves whoever comes next.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "serve/http_server.h"

namespace {

using namespace fathom::serve;

constexpr std::size_t kMostBody = 1000;

void check(bool holds) {
  if (!holds) __builtin_trap();
}

Admission echo(const Request& request) {
  if (request.target == "/refused")
    return {.refusal = Response{.status = 403, .body = std::make_shared<std::string>("no")}};
  return {.body_limit = kMostBody, .answer = [](Request& whole) {
            check(whole.body.size() <= kMostBody);
            return Response{.type = "text/plain",
                            .body = std::make_shared<std::string>(std::move(whole.body))};
          }};
}

std::string answer_to(std::uint16_t port, std::string_view bytes) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  check(connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;  // it has heard enough
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  shutdown(socket, SHUT_WR);
  std::string answer;
  char piece[4096];
  for (ssize_t got = 0; (got = recv(socket, piece, sizeof piece, 0)) > 0;)
    answer.append(piece, static_cast<std::size_t>(got));
  close(socket);
  return answer;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const HttpServer server({.most_header_bytes = 2048}, echo);
  const std::string answer = answer_to(server.port(), {reinterpret_cast<const char*>(data), size});
  check(answer.empty() || answer.starts_with("HTTP/1.1 "));
  static std::uint64_t inputs = 0;
  if (++inputs % 16 == 0) {
    const std::string next = answer_to(server.port(), "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    check(next.starts_with("HTTP/1.1 200 "));
  }
  return 0;
}
