#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

// A request and its answer as plain data, for those who know nothing of sockets.
namespace fathom::serve {

// What decides about a request; other headers are not looked at.
struct Request {
  std::string method;   // "GET"
  std::string target;   // path and query, as sent
  std::string host;     // empty where there is none, or more than one
  std::string address;  // of who asks: "127.0.0.1"
  std::string origin = {};
  std::string fetch_site = {};  // Sec-Fetch-Site
  std::string authorization = {};
  std::string cookie = {};
  std::string content_type = {};
  std::string body = {};
};

struct Response {
  int status = 200;
  std::string type = {};     // Content-Type; none where it is empty
  std::string headers = {};  // whole lines, "Name: value\r\n" each
  std::shared_ptr<const std::string> body = {};
  bool closes = false;  // the connection, afterwards

  // Instead of all of the above: what takes long, done on another thread than all other requests.
  std::function<Response()> work = {};

  // Instead of an end: what is published on this channel follows, for as long as this holds.
  std::optional<unsigned> channel = {};
  std::function<bool()> is_still_allowed = {};
};

// What becomes of a request whose headers are there. Its body is not: one that is refused is not
// read.
struct Admission {
  std::optional<Response> refusal = {};
  std::size_t body_limit = 0;
  // Takes the body piece by piece, in place of Request::body; false where no more is wanted.
  std::function<bool(std::string_view)> take_body = {};
  std::function<Response(Request&)> answer = {};
  // Called where it is refused after all, with the status that is answered: its body turns out too
  // large, or there is too much to do.
  std::function<void(const Request&, int)> note_refusal = {};
};

// What is refused without having been admitted or refused as a request.
struct TurnedAway {
  std::string address;
  int status = 0;  // 400 or 431 of what is no request; 0 where the connection was refused
};

}  // namespace fathom::serve
