#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// A client that sends what it is told to, right or wrong.
namespace fathom::serve {

struct Answer {
  int status = 0;       // 0 where the server closed the connection without one
  std::string headers;  // as they came
  std::string body;

  std::string header(std::string_view name) const;  // empty where it is not there
};

class Client {
 public:
  explicit Client(std::uint16_t port);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool is_connected() const { return socket_ >= 0; }
  bool send(std::string_view bytes);  // false where nobody takes them
  Answer answer();                    // the next one, with a body of the length that it says
  std::string line();                 // up to the next line feed, without it; of a stream
  bool is_closed();                   // waits for that

 private:
  bool receive();

  int socket_ = -1;
  std::string received_;
};

struct Question {
  std::string method = "GET";
  std::string target = "/";
  std::string token = {};                 // as bearer
  std::vector<std::string> headers = {};  // "Name: value"; a Host among them is the only one
  std::string body = {};
};

std::string as_sent(std::uint16_t port, const Question& question);
Answer ask(std::uint16_t port, const Question& question);

}  // namespace fathom::serve
