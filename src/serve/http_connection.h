#pragma once

#include <fmt/format.h>

#include <array>
#include <boost/asio/post.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <chrono>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "serve/http_events_out.h"
#include "serve/http_head.h"
#include "serve/http_shared.h"

namespace fathom::serve {

namespace http = boost::beast::http;

inline std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

inline Response one_sentence(int status, std::string_view sentence) {
  return {.status = status,
          .type = "application/json",
          .body = std::make_shared<std::string>(fmt::format("{{\"error\":\"{}\"}}\n", sentence)),
          .closes = true};
}

// A connection: one request after the other, each answered before the next is read.
template <typename Stream>
class Connection final : public std::enable_shared_from_this<Connection<Stream>> {
 public:
  template <typename... Tls>
  Connection(Shared& shared, tcp::socket socket, std::string address, Tls&... tls)
      : shared_(shared), stream_(std::move(socket), tls...), address_(std::move(address)) {
    ++shared_.connections;
    ++shared_.per_address[address_];
  }
  ~Connection() {
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

 private:
  static constexpr std::size_t kPieceBytes = 256 * 1024;
  static constexpr std::chrono::seconds kLingerTime{2};
  static constexpr std::size_t kMostDrainedBytes = 4 * 1024 * 1024;
  static constexpr bool kIsTls = !std::is_same_v<Stream, beast::tcp_stream>;

  auto& lowest() { return beast::get_lowest_layer(stream_); }

  // Not where it ends or is cut off.
  static bool is_malformed(const error_code& failed) {
    return failed &&
           failed.category() == http::make_error_code(http::error::bad_value).category() &&
           failed != http::error::end_of_stream && failed != http::error::partial_message;
  }

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
    if (is_malformed(failed)) return refuse_malformed(400, "This is not an HTTP request");
    if (failed) return note(failed);
    ++shared_.requests;
    take_request();
    if (const auto why = encoding_fault()) return refuse_malformed(400, *why);
    admission_ = shared_.admit(request_);
    if (admission_.refusal) {
      if (!parser_->is_done()) admission_.refusal->closes = true;
      return respond(std::move(*admission_.refusal));
    }
    read_body();
  }

  // Where a proxy and this server would not agree on where a request ends, another could hide in
  // it.
  std::optional<std::string_view> encoding_fault() const {
    const auto& header = parser_->get();
    const auto encodings = header.count(http::field::transfer_encoding);
    if (encodings == 0) return {};
    if (header.count(http::field::content_length) > 0)
      return "A body has a length or an encoding, not both";
    if (encodings > 1 || !beast::iequals(header[http::field::transfer_encoding], "chunked"))
      return "The only Transfer-Encoding that is known here is chunked";
    if (header.version() < 11) return "HTTP/1.0 knows no Transfer-Encoding";
    return {};
  }

  void refuse_malformed(int status, std::string_view sentence) {
    ++shared_.malformed;
    if (shared_.turned_away) shared_.turned_away({.address = address_, .status = status});
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
                            self->on_piece(failed);
                          });
  }

  void on_piece(const error_code& failed) {
    if (!failed || failed == http::error::need_buffer) return take_piece();
    admission_ = {};
    if (is_malformed(failed))
      return refuse_malformed(400, "The body is not chunked as it should be");
    note(failed);
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
    note_refusal_ = std::exchange(admission_.note_refusal, {});
    note_refusal(413);
    const Admission admission = std::exchange(admission_, {});
    return one_sentence(
        413, admission.body_limit == 0
                 ? "This request takes no body"
                 : fmt::format("The body is larger than {} bytes", admission.body_limit));
  }

  void note_refusal(int status) {
    if (note_refusal_) std::exchange(note_refusal_, {})(request_, status);
  }

  void answer() {
    note_refusal_ = std::exchange(admission_.note_refusal, {});
    Response response = admission_.answer(request_);
    admission_ = {};
    if (is_cut_short_) response.closes = true;
    if (response.work) return answer_later(std::move(response.work));
    respond(std::move(response));
  }

  void answer_later(std::function<Response()> work) {
    if (shared_.waiting_work.fetch_add(1) >= shared_.options.most_waiting_work) {
      --shared_.waiting_work;
      note_refusal(503);
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
    if (response.channel && shared_.streams.size() >= shared_.options.most_streams) {
      note_refusal(503);
      response = one_sentence(503, "Too many streams are open");
    }
    note_refusal_ = {};
    response_ = std::move(response);
    if (request_.method == "HEAD") {  // has no body in its answer, whatever that is
      response_.body.reset();
      response_.closes = true;
    }
    const bool is_stream = response_.channel.has_value();
    closes_ = response_.closes || is_stream || !parser_->is_header_done() || !parser_->keep_alive();
    sent_ = 0;
    head_.clear();
    append_head(head_, response_,
                {.common_headers = shared_.options.common_headers,
                 .has_length = !is_stream,
                 .closes = closes_,
                 .is_old = parser_->get().version() < 11});
    write_piece();
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
    if (response_.channel) {
      events_.begin(this->shared_from_this(), response_);
      response_ = {};
      return;
    }
    const bool closes = closes_;
    response_ = {};
    if (closes) return close_gently();
    lowest().expires_after(shared_.options.idle_time);
    read_header();
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
  std::function<void(const Request&, int)> note_refusal_;  // of the request that is being answered
  std::string piece_;
  std::size_t taken_ = 0;
  bool is_cut_short_ = false;
  Response response_;
  std::string head_;
  std::size_t sent_ = 0;
  bool closes_ = false;
  EventsOut<Stream> events_{shared_, stream_};
};

}  // namespace fathom::serve
