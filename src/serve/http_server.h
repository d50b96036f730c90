#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "serve/http.h"

// HTTP/1.1 over TCP or TLS, on one thread, within limits. Knows nothing of what is served.
namespace fathom::serve {

struct HttpOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;            // 0: any that is free
  std::string tls_certificate = {};  // a PEM file, the chain; plain HTTP without it
  std::string tls_key = {};
  std::string common_headers = {};  // of every answer; whole lines

  std::size_t most_connections = 1024;
  std::size_t most_connections_per_address = 256;
  std::size_t most_streams = 64;
  std::size_t most_waiting_work = 64;  // then 503
  std::size_t work_threads = 2;
  std::uint32_t most_header_bytes = 16 * 1024;
  // From the first byte of a connection until its headers are complete; between two requests of it;
  // for a piece of a body either way, 256 KB.
  std::chrono::milliseconds header_time{10'000};
  std::chrono::milliseconds idle_time{30'000};
  std::chrono::milliseconds piece_time{30'000};
  std::chrono::milliseconds heartbeat{15'000};  // of streams
};

struct HttpFigures {
  std::size_t connections = 0;            // now
  std::size_t streams = 0;                // of these
  std::uint64_t requests = 0;             // so far
  std::uint64_t malformed = 0;            // that were none
  std::uint64_t connections_refused = 0;  // over a limit
  std::uint64_t connections_timed_out = 0;
};

class HttpServer {
 public:
  using Admit = std::function<Admission(const Request&)>;
  using NoteTurnedAway = std::function<void(const TurnedAway&)>;

  // Listens at once. `admit`, `note` and the answers are called on the thread of the server, one at
  // a time, and must not wait for anything. Throws base::Error where the address is not to be had
  // or a certificate is wrong.
  HttpServer(const HttpOptions& options, Admit admit, NoteTurnedAway note = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  // Sends bytes to all streams of a channel. Any thread may call it. A client that does not keep up
  // is disconnected.
  void publish(unsigned channel, std::shared_ptr<const std::string> bytes);
  HttpFigures figures() const;
  void
  stop();  // waits for the work that is being done, not for what waits; then nothing is answered

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom::serve
