#include "serve/http_server.h"

// The only file with Boost.Beast and Asio, which take long to compile.
#include <fmt/format.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <ctime>
#include <deque>
#include <limits>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/error.h"

namespace fathom::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Bytes = std::shared_ptr<const std::string>;

constexpr std::size_t kPieceBytes = 256 * 1024;
constexpr std::size_t kMostQueuedBytes = 8 * 1024 * 1024;  // of a stream whose client is slow
constexpr std::chrono::seconds kLingerTime{2};
constexpr std::size_t kMostDrainedBytes = 4 * 1024 * 1024;

std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

// RFC 9110, 5.6.7. Made once per second.
std::string_view date_line() {
  thread_local std::time_t made_at = 0;
  thread_local char line[64];
  thread_local std::size_t size = 0;
  const std::time_t now = std::time(nullptr);
  if (now != made_at) {
    struct tm parts {};
    gmtime_r(&now, &parts);
    size = std::strftime(line, sizeof line, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
    made_at = now;
  }
  return {line, size};
}

Response one_sentence(int status, std::string_view sentence) {
  return {.status = status,
          .type = "application/json",
          .body = std::make_shared<std::string>(fmt::format("{{\"error\":\"{}\"}}\n", sentence)),
          .closes = true};
}

// A connection on which events go out.
class StreamOut {
 public:
  virtual ~StreamOut() = default;
  virtual void push(const Bytes& bytes) = 0;
  virtual void end() = 0;
  bool is_allowed() const { return !is_still_allowed || is_still_allowed(); }

  unsigned channel = 0;
  std::function<bool()> is_still_allowed;
};

// What all connections share. On the thread of the server, but for the atomics.
struct Shared {
  HttpOptions options;
  std::function<Admission(const Request&)> admit;
  std::unordered_map<std::string, std::size_t> per_address;
  std::set<StreamOut*> streams;
  std::atomic<std::size_t> connections{0}, stream_count{0}, waiting_work{0};
  std::atomic<std::uint64_t> requests{0}, malformed{0}, refused{0}, timed_out{0};
  asio::thread_pool* workers = nullptr;
};

template <typename Stream>
class Connection final : public StreamOut, public std::enable_shared_from_this<Connection<Stream>> {
 public:
  template <typename... Tls>
  Connection(Shared& shared, tcp::socket socket, std::string address, Tls&... tls)
      : shared_(shared), stream_(std::move(socket), tls...), address_(std::move(address)) {
    ++shared_.connections;
    ++shared_.per_address[address_];
  }
  ~Connection() override {
    leave_streams();
    --shared_.connections;
    const auto mine = shared_.per_address.find(address_);
    if (--mine->second == 0) shared_.per_address.erase(mine);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void run() {
    lowest().expires_after(shared_.options.header_time);
    if constexpr (kIsTls) {
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](error_code failed) {
                                if (failed) return self->note(failed);
                                self->read_header();
                              });
    } else {
      read_header();
    }
  }

  void push(const Bytes& bytes) override {
    queued_bytes_ += bytes->size();
    queue_.push_back(bytes);
    if (queued_bytes_ > kMostQueuedBytes) return end();
    if (queue_.size() == 1) send_queued();
  }

  void end() override {
    error_code ignored;
    leave_streams();
    lowest().socket().close(ignored);
  }

 private:
  static constexpr bool kIsTls = !std::is_same_v<Stream, beast::tcp_stream>;

  auto& lowest() { return beast::get_lowest_layer(stream_); }

  void note(const error_code& failed) {
    if (failed == beast::error::timeout) ++shared_.timed_out;
  }

  void read_header() {
    parser_.emplace();
    parser_->header_limit(shared_.options.most_header_bytes);
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());  // take_piece() counts
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](error_code failed, std::size_t) {
                              self->on_header(failed);
                            });
  }

  void on_header(const error_code& failed) {
    if (failed == http::error::header_limit || failed == http::error::buffer_overflow)
      return refuse_malformed(431, "The headers are too large");
    if (failed.category() == http::make_error_code(http::error::end_of_stream).category() &&
        failed && failed != http::error::end_of_stream && failed != http::error::partial_message)
      return refuse_malformed(400, "This is not an HTTP request");
    if (failed) return note(failed);
    ++shared_.requests;
    const auto& header = parser_->get();
    if (header.count(http::field::content_length) > 0 &&
        header.count(http::field::transfer_encoding) > 0)
      return refuse_malformed(400, "A body has a length or an encoding, not both");
    take_request();
    admission_ = shared_.admit(request_);
    if (admission_.refusal) {
      if (!parser_->is_done()) admission_.refusal->closes = true;
      return respond(std::move(*admission_.refusal));
    }
    read_body();
  }

  void refuse_malformed(int status, std::string_view sentence) {
    ++shared_.malformed;
    respond(one_sentence(status, sentence));
  }

  void take_request() {
    const auto& header = parser_->get();
    const auto text = [&](auto name) { return std::string(view_of(header[name])); };
    request_ = {.method = std::string(view_of(header.method_string())),
                .target = std::string(view_of(header.target())),
                .host = header.count(http::field::host) == 1 ? text(http::field::host) : "",
                .address = address_,
                .origin = text(http::field::origin),
                .fetch_site = text("Sec-Fetch-Site"),
                .authorization = text(http::field::authorization),
                .cookie = text(http::field::cookie),
                .content_type = text(http::field::content_type)};
  }

  void read_body() {
    if (parser_->is_done()) return answer();
    const auto length = parser_->content_length();
    if (length && *length > admission_.body_limit) return respond(too_large());
    taken_ = 0;
    piece_.resize(16 * 1024);
    lowest().expires_after(shared_.options.piece_time);
    if (!beast::iequals(parser_->get()[http::field::expect], "100-continue")) return read_piece();
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue),
                      [self = this->shared_from_this()](error_code failed, std::size_t) {
                        if (failed) return self->note(failed);
                        self->read_piece();
                      });
  }

  void read_piece() {
    auto& body = parser_->get().body();
    body.data = piece_.data();
    body.size = piece_.size();
    body.more = true;
    http::async_read_some(stream_, buffer_, *parser_,
                          [self = this->shared_from_this()](error_code failed, std::size_t) {
                            if (failed && failed != http::error::need_buffer) {
                              self->admission_ = {};
                              return self->note(failed);
                            }
                            self->take_piece();
                          });
  }

  void take_piece() {
    const std::string_view piece(piece_.data(), piece_.size() - parser_->get().body().size);
    if (taken_ / kPieceBytes != (taken_ + piece.size()) / kPieceBytes)
      lowest().expires_after(shared_.options.piece_time);
    taken_ += piece.size();
    if (taken_ > admission_.body_limit) return respond(too_large());
    if (!admission_.take_body) {
      request_.body += piece;
    } else if (!admission_.take_body(piece)) {
      is_cut_short_ = true;
      return answer();
    }
    if (parser_->is_done()) return answer();
    read_piece();
  }

  Response too_large() {
    const Admission admission = std::exchange(admission_, {});
    if (admission.note_refusal) admission.note_refusal(request_, 413);
    return one_sentence(
        413, admission.body_limit == 0
                 ? "This request takes no body"
                 : fmt::format("The body is larger than {} bytes", admission.body_limit));
  }

  void answer() {
    Response response = admission_.answer(request_);
    admission_ = {};
    if (is_cut_short_) response.closes = true;
    if (response.work) return answer_later(std::move(response.work));
    respond(std::move(response));
  }

  void answer_later(std::function<Response()> work) {
    if (shared_.waiting_work.fetch_add(1) >= shared_.options.most_waiting_work) {
      --shared_.waiting_work;
      return respond(one_sentence(503, "Too much is being worked on; ask again in a moment"));
    }
    lowest().expires_never();
    asio::post(
        *shared_.workers, [self = this->shared_from_this(), work = std::move(work)]() mutable {
          Response response = std::exchange(work, {})();
          --self->shared_.waiting_work;
          const auto executor = self->stream_.get_executor();
          // Handed over, not copied: a connection ends on the thread of the server.
          asio::post(executor, [self = std::move(self), response = std::move(response)]() mutable {
            self->respond(std::move(response));
          });
        });
  }

  void respond(Response response) {
    if (response.channel && shared_.streams.size() >= shared_.options.most_streams)
      response = one_sentence(503, "Too many streams are open");
    response_ = std::move(response);
    if (request_.method == "HEAD") {  // has no body in its answer, whatever that is
      response_.body.reset();
      response_.closes = true;
    }
    const bool is_stream = response_.channel.has_value();
    closes_ = response_.closes || is_stream || !parser_->is_header_done() || !parser_->keep_alive();
    sent_ = 0;
    write_head(is_stream);
    write_piece();
  }

  void write_head(bool is_stream) {
    head_.clear();
    const auto reason = http::obsolete_reason(static_cast<http::status>(response_.status));
    fmt::format_to(std::back_inserter(head_), "HTTP/1.1 {} {}\r\n", response_.status,
                   view_of(reason));
    head_ += date_line();
    if (!response_.type.empty()) {
      head_ += "Content-Type: ";
      head_ += response_.type;
      head_ += "\r\n";
    }
    head_ += response_.headers;
    head_ += shared_.options.common_headers;
    if (!is_stream && response_.status != 204) {
      fmt::format_to(std::back_inserter(head_), "Content-Length: {}\r\n",
                     response_.body ? response_.body->size() : 0);
    }
    if (closes_) {
      head_ += "Connection: close\r\n";
    } else if (parser_->get().version() < 11) {
      head_ += "Connection: keep-alive\r\n";
    }
    head_ += "\r\n";
  }

  // The head and the first piece, or the next piece; each within its own time.
  void write_piece() {
    lowest().expires_after(shared_.options.piece_time);
    const std::string_view body = response_.body ? std::string_view(*response_.body) : "";
    const std::string_view piece = body.substr(sent_, kPieceBytes);
    const std::array<asio::const_buffer, 2> buffers = {
        asio::buffer(sent_ == 0 ? std::string_view(head_) : std::string_view()),
        asio::buffer(piece)};
    sent_ += piece.size();
    asio::async_write(stream_, buffers,
                      [self = this->shared_from_this()](error_code failed, std::size_t) {
                        self->on_written(failed);
                      });
  }

  void on_written(const error_code& failed) {
    if (failed) return note(failed);
    if (response_.body && sent_ < response_.body->size()) return write_piece();
    if (response_.channel) return become_stream();
    const bool closes = closes_;
    response_ = {};
    if (closes) return close_gently();
    lowest().expires_after(shared_.options.idle_time);
    read_header();
  }

  void become_stream() {
    channel = *response_.channel;
    is_still_allowed = std::move(response_.is_still_allowed);
    response_ = {};
    lowest().expires_never();  // one that does not read is found by what waits for it
    shared_.streams.insert(this);
    shared_.stream_count = shared_.streams.size();
    wait_for_hang_up();
  }

  void wait_for_hang_up() {
    piece_.resize(1024);
    stream_.async_read_some(asio::buffer(piece_),
                            [self = this->shared_from_this()](error_code failed, std::size_t) {
                              if (failed) return self->end();
                              self->wait_for_hang_up();
                            });
  }

  void send_queued() {
    asio::async_write(stream_, asio::buffer(*queue_.front()),
                      [self = this->shared_from_this()](error_code failed, std::size_t) {
                        if (failed) return self->end();
                        self->queued_bytes_ -= self->queue_.front()->size();
                        self->queue_.pop_front();
                        if (!self->queue_.empty()) self->send_queued();
                      });
  }

  void leave_streams() {
    shared_.streams.erase(this);
    shared_.stream_count = shared_.streams.size();
  }

  // A close with bytes unread would take the answer away from who asked: what still comes is read
  // and thrown away for a moment, though not much of it.
  void close_gently() {
    lowest().expires_after(kLingerTime);
    if constexpr (kIsTls) {
      stream_.async_shutdown([self = this->shared_from_this()](error_code) { self->drain(); });
    } else {
      drain();
    }
  }

  void drain() {
    error_code ignored;
    lowest().socket().shutdown(tcp::socket::shutdown_send, ignored);
    piece_.resize(kPieceBytes);
    taken_ = 0;
    drain_more();
  }

  void drain_more() {
    lowest().async_read_some(asio::buffer(piece_), [self = this->shared_from_this()](
                                                       error_code failed, std::size_t size) {
      self->taken_ += size;
      if (!failed && self->taken_ < kMostDrainedBytes) self->drain_more();
    });
  }

  Shared& shared_;
  Stream stream_;
  std::string address_;
  beast::flat_buffer buffer_{64 * 1024};
  std::optional<http::request_parser<http::buffer_body>> parser_;
  Request request_;
  Admission admission_;
  std::string piece_;
  std::size_t taken_ = 0;
  bool is_cut_short_ = false;
  Response response_;
  std::string head_;
  std::size_t sent_ = 0;
  bool closes_ = false;
  std::deque<Bytes> queue_;
  std::size_t queued_bytes_ = 0;
};

std::string address_of(const tcp::socket& socket) {
  error_code failed;
  const auto end = socket.remote_endpoint(failed);
  if (failed) return "unknown";
  asio::ip::address address = end.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  return address.to_string();
}

[[noreturn]] void refuse_tls(const std::string& file, const error_code& failed) {
  throw base::Error(file, "cannot be used for TLS: " + failed.message(),
                    "Both are PEM files: the certificate with its chain, and its key");
}

void set_up_tls(asio::ssl::context& tls, const HttpOptions& options) {
  error_code failed;
  tls.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_compression |
                  SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_min_proto_version(tls.native_handle(), TLS1_2_VERSION);
  tls.use_certificate_chain_file(options.tls_certificate, failed);
  if (failed) refuse_tls(options.tls_certificate, failed);
  tls.use_private_key_file(options.tls_key, asio::ssl::context::pem, failed);
  if (failed) refuse_tls(options.tls_key, failed);
  if (SSL_CTX_check_private_key(tls.native_handle()) != 1)
    throw base::Error(options.tls_key, "is not the key of " + options.tls_certificate);
}

}  // namespace

struct HttpServer::State {
  State(const HttpOptions& options, std::function<Admission(const Request&)> admit)
      : workers(options.work_threads) {
    shared.options = options;
    shared.admit = std::move(admit);
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

HttpServer::HttpServer(const HttpOptions& options, std::function<Admission(const Request&)> admit)
    : state_(std::make_unique<State>(options, std::move(admit))) {}

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
  state_->workers.join();
  state_->io.stop();
  state_->thread.join();
}

}  // namespace fathom::serve
