#include "serve/http_server.h"

// The only file with Boost.Beast and Asio, which take long to compile, and with the
// headers that use them.
#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "serve/http_connection.h"
#include "serve/http_tls.h"

namespace fathom::serve {
namespace {

std::string address_of(const tcp::socket& socket) {
  error_code failed;
  const auto end = socket.remote_endpoint(failed);
  if (failed) return "unknown";
  asio::ip::address address = end.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  return address.to_string();
}

}  // namespace

struct HttpServer::State {
  State(const HttpOptions& options, Admit admit, NoteTurnedAway note)
      : workers(options.work_threads) {
    shared.options = options;
    shared.admit = std::move(admit);
    shared.turned_away = std::move(note);
    shared.workers = &workers;
    if (!options.tls_certificate.empty())
      set_up_tls(tls.emplace(asio::ssl::context::tls_server), options);
    listen();
    accept();
    beat();
    thread = std::thread([this] { io.run(); });
  }

  void listen() {
    const HttpOptions& options = shared.options;
    const std::string where = fmt::format("{}:{}", options.address, options.port);
    error_code failed;
    const auto address = asio::ip::make_address(options.address, failed);
    if (failed)
      throw base::Error(options.address, "not an IP address",
                        "For example 127.0.0.1, ::1 or 0.0.0.0");
    const tcp::endpoint end(address, options.port);
    acceptor.open(end.protocol(), failed);
    if (!failed) acceptor.set_option(asio::socket_base::reuse_address(true), failed);
    if (!failed) acceptor.bind(end, failed);
    if (!failed) acceptor.listen(asio::socket_base::max_listen_connections, failed);
    if (failed == asio::error::address_in_use)
      throw base::Error(where, "is in use", "Another server runs there: choose another --port");
    if (failed) throw base::Error(where, "cannot listen: " + failed.message());
  }

  void accept() {
    acceptor.async_accept([this](error_code failed, tcp::socket socket) {
      if (failed == asio::error::operation_aborted) return;
      if (failed) return accept_later();  // no descriptors are left, for one
      take(std::move(socket));
      accept();
    });
  }

  void accept_later() {
    pause.expires_after(std::chrono::milliseconds(100));
    pause.async_wait([this](error_code cancelled) {
      if (!cancelled) accept();
    });
  }

  void take(tcp::socket socket) {
    std::string address = address_of(socket);
    const auto mine = shared.per_address.find(address);
    if (shared.connections >= shared.options.most_connections ||
        (mine != shared.per_address.end() &&
         mine->second >= shared.options.most_connections_per_address)) {
      ++shared.refused;
      if (shared.turned_away) shared.turned_away({.address = address});
      return;  // which closes it
    }
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    if (tls) {
      using Tls = Connection<beast::ssl_stream<beast::tcp_stream>>;
      std::make_shared<Tls>(shared, std::move(socket), std::move(address), *tls)->run();
    } else {
      using Plain = Connection<beast::tcp_stream>;
      std::make_shared<Plain>(shared, std::move(socket), std::move(address))->run();
    }
  }

  template <typename Wanted>
  void send(const Bytes& bytes, const Wanted& wanted) {
    const std::vector<StreamOut*> all(shared.streams.begin(), shared.streams.end());
    for (StreamOut* stream : all) {
      if (!stream->is_allowed()) {
        stream->end();
      } else if (wanted(*stream)) {
        stream->push(bytes);
      }
    }
  }

  // Comments that keep streams open through proxies, and find those that are not.
  void beat() {
    heart.expires_after(shared.options.heartbeat);
    heart.async_wait([this](error_code cancelled) {
      if (cancelled) return;
      send(std::make_shared<std::string>(":\n\n"), [](const StreamOut&) { return true; });
      beat();
    });
  }

  Shared shared;
  std::optional<asio::ssl::context> tls;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer pause{io}, heart{io};
  asio::thread_pool workers;
  std::thread thread;
};

HttpServer::HttpServer(const HttpOptions& options, Admit admit, NoteTurnedAway note)
    : state_(std::make_unique<State>(options, std::move(admit), std::move(note))) {}

HttpServer::~HttpServer() {
  stop();
}

std::uint16_t HttpServer::port() const {
  return state_->acceptor.local_endpoint().port();
}

void HttpServer::publish(unsigned channel, std::shared_ptr<const std::string> bytes) {
  asio::post(state_->io, [state = state_.get(), channel, bytes = std::move(bytes)] {
    state->send(bytes, [channel](const StreamOut& stream) { return stream.channel == channel; });
  });
}

HttpFigures HttpServer::figures() const {
  const Shared& shared = state_->shared;
  return {.connections = shared.connections,
          .streams = shared.stream_count,
          .requests = shared.requests,
          .malformed = shared.malformed,
          .connections_refused = shared.refused,
          .connections_timed_out = shared.timed_out};
}

void HttpServer::stop() {
  if (!state_->thread.joinable()) return;
  state_->workers.stop();  // what is only waiting is not begun
  state_->workers.join();
  state_->io.stop();
  state_->thread.join();
}

}  // namespace fathom::serve
