// Requests per second of `fathom serve --demo` beside a bare Beast server that answers the same
// bytes whatever is asked, by wrk with 64 connections in turn; and whether samples are late
// meanwhile.

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "floor.h"

extern char** environ;

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr int kRounds = 5;
constexpr int kSecondsPerRound = 3;
constexpr double kInterval = 0.1;

// As in Beast's own examples: a time limit per request, and nothing else.
class BareConnection : public std::enable_shared_from_this<BareConnection> {
 public:
  BareConnection(tcp::socket socket, const std::string& body)
      : stream_(std::move(socket)), body_(body) {}

  void read() {
    request_ = {};
    stream_.expires_after(std::chrono::seconds(30));
    http::async_read(stream_, buffer_, request_,
                     [self = shared_from_this()](beast::error_code failed, std::size_t) {
                       if (!failed) self->write();
                     });
  }

 private:
  void write() {
    response_ = {http::status::ok, request_.version()};
    response_.set(http::field::content_type, "application/json");
    response_.keep_alive(request_.keep_alive());
    response_.body() = body_;
    response_.prepare_payload();
    http::async_write(stream_, response_,
                      [self = shared_from_this()](beast::error_code failed, std::size_t) {
                        if (!failed) self->read();
                      });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
  const std::string& body_;
};

class BareServer {
 public:
  explicit BareServer(std::string body) : body_(std::move(body)) {
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~BareServer() {
    io_.stop();
    thread_.join();
  }
  unsigned port() const { return acceptor_.local_endpoint().port(); }

 private:
  void accept() {
    acceptor_.async_accept([this](beast::error_code failed, tcp::socket socket) {
      if (failed) return;
      std::make_shared<BareConnection>(std::move(socket), body_)->read();
      accept();
    });
  }

  std::string body_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_{io_, {asio::ip::make_address("127.0.0.1"), 0}};
  std::thread thread_;
};

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  char buffer[65536];
  while (const std::size_t size = std::fread(buffer, 1, sizeof buffer, pipe))
    text.append(buffer, size);
  if (pclose(pipe) != 0) {
    fmt::print(stderr, "failed: {}\n{}\n", command, text);
    std::exit(1);
  }
  return text;
}

// Requests per second; those that were not answered with 200 end the benchmark.
double measured(unsigned port, const std::string& path, const std::string& token) {
  const std::string text = output_of(
      fmt::format("wrk -t1 -c64 -d{}s -H 'Authorization: Bearer {}' http://127.0.0.1:{}{}",
                  kSecondsPerRound, token, port, path));
  const std::size_t at = text.find("Requests/sec:");
  if (at == std::string::npos || text.find("Non-2xx") != std::string::npos ||
      text.find("Socket errors") != std::string::npos) {
    fmt::print(stderr, "{}", text);
    std::exit(1);
  }
  return std::atof(text.c_str() + at + 13);
}

struct Fathom {
  Fathom() {
    const std::string folder = FATHOM_BINARY_DIR "/bench_data/serve";
    output_of("mkdir -p '" + folder + "' && rm -f '" + folder + "/audit'");
    std::ofstream(folder + "/fathom.yaml") << fmt::format(
        "gpu_profiler:\n  monitoring_interval_seconds: {}\n  output_dir: {}\n", kInterval, folder);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    std::vector<std::string> words = {
        FATHOM_PROGRAM,         "serve", "--demo",      "--port",          "0",
        "--rate-limit",         "0",     "--audit-log", folder + "/audit", "--config",
        folder + "/fathom.yaml"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    if (posix_spawn(&child, FATHOM_PROGRAM, &actions, nullptr, argv.data(), environ) != 0)
      std::abort();
    close(ends[1]);
    std::string said;
    char buffer[4096];
    ssize_t size = 0;
    while (said.find("Ctrl-C") == std::string::npos &&
           (size = ::read(ends[0], buffer, sizeof buffer)) > 0)
      said.append(buffer, static_cast<std::size_t>(size));
    const std::size_t at = said.find("127.0.0.1:");
    const std::size_t token_at = said.find("#token=");
    if (at == std::string::npos || token_at == std::string::npos) std::abort();
    port = static_cast<unsigned>(std::atoi(said.c_str() + at + 10));
    token = said.substr(token_at + 7, said.find('\n', token_at) - token_at - 7);
  }
  ~Fathom() {
    kill(child, SIGTERM);
    waitpid(child, nullptr, 0);
  }
  std::string get(const std::string& path) const {
    return output_of(fmt::format("curl -sf -H 'Authorization: Bearer {}' http://127.0.0.1:{}{}",
                                 token, port, path));
  }

  pid_t child = 0;
  unsigned port = 0;
  std::string token;
};

// The longest time between two samples of those that are kept, in seconds.
double longest_gap(const std::string& history) {
  constexpr std::string_view kBegin = "\"times_ms\":[";
  const char* at = history.c_str() + history.find(kBegin) + kBegin.size();
  std::optional<double> before;
  double longest = 0;
  while (*at != ']') {
    char* end = nullptr;
    const double time = std::strtod(at, &end);
    if (before) longest = std::max(longest, (time - *before) / 1000);
    before = time;
    at = *end == ',' ? end + 1 : end;
  }
  return longest;
}

void measure(const Fathom& fathom, const std::string& path) {
  const BareServer bare(fathom.get(path));
  double ours = 0, floor = 0;
  for (int round = 0; round < kRounds; ++round) {
    floor = std::max(floor, measured(bare.port(), path, "x"));
    ours = std::max(ours, measured(fathom.port, path, fathom.token));
  }
  fathom::bench::print_line("serve " + path, ours, floor, "requests/s");
}

}  // namespace

int main() {
  const Fathom fathom;
  measure(fathom, "/api/gpu/status");
  measure(fathom, "/metrics");
  fathom::bench::print_line("serve longest time between samples",
                            longest_gap(fathom.get("/api/gpu/history")), kInterval, "s");
  return 0;
}
