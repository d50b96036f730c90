#include "serve/http_server.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/error.h"
#include "serve/client.h"

namespace fathom::serve {
namespace {

Response text_answer(std::string text) {
  return {.type = "text/plain", .body = std::make_shared<std::string>(std::move(text))};
}

// Answers with what it got; bodies of at most 1000 bytes.
Admission echo(const Request&) {
  return {.body_limit = 1000, .answer = [](Request& request) {
            return text_answer(request.method + " " + request.target + " " + request.body);
          }};
}

HttpOptions quick() {
  HttpOptions options;
  options.header_time = std::chrono::milliseconds(100);
  options.piece_time = std::chrono::milliseconds(100);
  return options;
}

TEST(HttpServer, AnswersOneRequestAfterTheOtherOnAConnection) {
  const HttpServer server({}, echo);
  Client client(server.port());
  for (const char* target : {"/a", "/b"}) {
    client.send(as_sent(server.port(), {.target = target}));
    EXPECT_EQ(client.answer().body, std::string("GET ") + target + " ");
  }
}

TEST(HttpServer, AnswersRequestsThatCameTogetherInTheirOrder) {
  const HttpServer server({}, echo);
  Client client(server.port());
  client.send(as_sent(server.port(), {.target = "/a"}) +
              as_sent(server.port(), {.method = "POST", .target = "/b", .body = "x"}) +
              as_sent(server.port(), {.target = "/c"}));
  EXPECT_EQ(client.answer().body, "GET /a ");
  EXPECT_EQ(client.answer().body, "POST /b x");
  EXPECT_EQ(client.answer().body, "GET /c ");
}

TEST(HttpServer, WhatIsNoRequestIsRefused) {
  const HttpServer server({}, echo);
  for (const char* bytes :
       {"nonsense\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\x16\x03\x01 TLS\r\n\r\n", "GET /\r\n\r\n",
        "GET / HTTP/1.1\r\nbad header\r\n\r\n"}) {
    Client client(server.port());
    client.send(bytes);
    EXPECT_EQ(client.answer().status, 400) << bytes;
    EXPECT_TRUE(client.is_closed());
  }
  EXPECT_EQ(server.figures().malformed, 5U);
}

TEST(HttpServer, ABodyWithTwoLengthsIsRefused) {
  const HttpServer server({}, echo);
  Client client(server.port());
  client.send(
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
      "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.answer().status, 400);
  EXPECT_TRUE(client.is_closed());
}

// Where a proxy takes such a body for one and this server does not, what is in it would be a
// request.
TEST(HttpServer, ABodyOfAnUnknownEncodingIsRefused) {
  const HttpServer server({}, echo);
  for (const char* head :
       {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"}) {
    Client client(server.port());
    client.send(std::string(head) + "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(client.answer().status, 400) << head;
    EXPECT_TRUE(client.is_closed()) << head;
  }
}

TEST(HttpServer, ABodyThatIsNotChunkedAsItSaysIsRefused) {
  const HttpServer server({}, echo);
  for (const char* chunk : {"zz\r\nab\r\n", "-1\r\nab\r\n", "ffffffffffffffffff\r\nab\r\n"}) {
    Client client(server.port());
    client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" +
                std::string(chunk));
    EXPECT_EQ(client.answer().status, 400) << chunk;
    EXPECT_TRUE(client.is_closed()) << chunk;
  }
}

TEST(HttpServer, LargeHeadersAreRefused) {
  const HttpServer server({}, echo);
  Client client(server.port());
  client.send("GET / HTTP/1.1\r\nX: " + std::string(100'000, 'x'));
  EXPECT_EQ(client.answer().status, 431);
}

TEST(HttpServer, HeadersThatComeTooSlowlyEndTheConnection) {
  const HttpServer server(quick(), echo);
  Client silent(server.port());
  Client slow(server.port());
  slow.send("GET / HTTP/1.1\r\nX");
  EXPECT_TRUE(silent.is_closed());
  EXPECT_TRUE(slow.is_closed());
  // A byte now and then does not help: the time is for all of them.
  Client dripping(server.port());
  while (dripping.send("x")) usleep(10'000);
  EXPECT_EQ(server.figures().connections_timed_out, 3U);
}

TEST(HttpServer, ABodyThatDoesNotComeEndsTheConnection) {
  const HttpServer server(quick(), echo);
  Client client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf");
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpServer, AConnectionThatIsIdleIsClosed) {
  HttpOptions options;
  options.idle_time = std::chrono::milliseconds(100);
  const HttpServer server(options, echo);
  Client client(server.port());
  client.send(as_sent(server.port(), {}));
  EXPECT_EQ(client.answer().status, 200);
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpServer, ADeclaredBodyOfAGigabyteIsRefusedBeforeItComes) {
  const HttpServer server({}, echo);
  Client client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\n\r\n");
  EXPECT_EQ(client.answer().status, 413);
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpServer, AStreamedBodyOfAGigabyteIsRefusedWhenItIsTooLong) {
  const HttpServer server({}, echo);
  Client client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "100000\r\n" + std::string(0x100000, 'x') + "\r\n";
  int sent = 0;
  while (sent < 1024 && client.send(chunk)) ++sent;
  EXPECT_LT(sent, 1024) << "the server let go of it";
}

TEST(HttpServer, AStreamedBodyThatIsTooLongIsToldSo) {
  const HttpServer server({}, echo);
  Client client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
              std::string(1001, 'x') + "\r\n");
  EXPECT_EQ(client.answer().status, 413);
}

TEST(HttpServer, AClientThatAsksFirstIsToldToGoOnOrNot) {
  const HttpServer server({}, echo);
  Client client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.answer().status, 100);
  client.send("ab");
  EXPECT_EQ(client.answer().body, "POST / ab");
  client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2000\r\n\r\n");
  EXPECT_EQ(client.answer().status, 413);
}

TEST(HttpServer, AManyPiecedBodyGoesToWhoeverTakesIt) {
  std::atomic<std::size_t> taken = 0;
  const HttpServer server({}, [&](const Request&) {
    return Admission{.body_limit = 10 << 20,
                     .take_body =
                         [&](std::string_view piece) {
                           taken += piece.size();
                           return taken < (5 << 20);
                         },
                     .answer = [](Request&) { return text_answer("done"); }};
  });
  EXPECT_EQ(ask(server.port(), {.method = "POST", .body = std::string(1 << 20, 'x')}).body, "done");
  EXPECT_EQ(taken, 1U << 20);
  Client client(server.port());
  client.send(as_sent(server.port(), {.method = "POST", .body = std::string(9 << 20, 'x')}));
  EXPECT_EQ(client.answer().body, "done") << "who wants no more is asked for the answer";
  EXPECT_LT(taken, 6U << 20);
}

TEST(HttpServer, LargeAnswersArriveWhole) {
  const std::string large(20'000'000, 'x');
  const HttpServer server({}, [&](const Request&) {
    return Admission{.answer = [&](Request&) { return text_answer(large); }};
  });
  EXPECT_EQ(ask(server.port(), {}).body.size(), large.size());
}

TEST(HttpServer, WhatTakesLongHoldsUpNobodyElse) {
  std::promise<void> finish;
  const std::shared_future<void> finished(finish.get_future());
  const HttpServer server({}, [&](const Request& request) {
    const bool is_slow = request.target == "/slow";
    return Admission{.answer = [=](Request&) -> Response {
      if (!is_slow) return text_answer("quick");
      return {.work = [=] {
        finished.wait();
        return text_answer("slow");
      }};
    }};
  });
  Client slow(server.port());
  slow.send(as_sent(server.port(), {.target = "/slow"}));
  EXPECT_EQ(ask(server.port(), {}).body, "quick");
  finish.set_value();
  EXPECT_EQ(slow.answer().body, "slow");
}

TEST(HttpServer, TooMuchWorkIsRefused) {
  std::promise<void> finish;
  const std::shared_future<void> finished(finish.get_future());
  HttpOptions options;
  options.most_waiting_work = 2;
  const HttpServer server(options, [&](const Request&) {
    return Admission{.answer = [=](Request&) -> Response {
      return {.work = [=] {
        finished.wait();
        return text_answer("done");
      }};
    }};
  });
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<Client>(server.port()));
    clients.back()->send(as_sent(server.port(), {}));
  }
  while (server.figures().requests < 2) usleep(1000);
  EXPECT_EQ(ask(server.port(), {}).status, 503);
  finish.set_value();
  for (const auto& client : clients) EXPECT_EQ(client->answer().body, "done");
}

TEST(HttpServer, WhatOnlyWaitsIsNotBegunWhenItStops) {
  std::promise<void> finish;
  const std::shared_future<void> finished(finish.get_future());
  std::atomic<int> begun = 0;
  HttpOptions options;
  options.work_threads = 1;
  HttpServer server(options, [&](const Request&) {
    return Admission{.answer = [&, finished](Request&) -> Response {
      return {.work = [&, finished] {
        ++begun;
        finished.wait();
        return text_answer("done");
      }};
    }};
  });
  Client first(server.port()), second(server.port());
  first.send(as_sent(server.port(), {}));
  while (begun < 1) usleep(1000);
  second.send(as_sent(server.port(), {}));
  while (server.figures().requests < 2) usleep(1000);
  std::thread stopping([&] { server.stop(); });
  usleep(50'000);  // time to begin waiting; where it is too short, the test still holds
  finish.set_value();
  stopping.join();
  EXPECT_EQ(begun, 1);
}

TEST(HttpServer, EventsGoToThoseOfTheirChannel) {
  HttpServer server({}, [&](const Request& request) {
    const unsigned channel = request.target == "/1" ? 1 : 0;
    return Admission{.answer = [=](Request&) {
      Response response = text_answer("first\n");
      response.channel = channel;
      return response;
    }};
  });
  Client zero(server.port()), one(server.port());
  zero.send(as_sent(server.port(), {.target = "/0"}));
  one.send(as_sent(server.port(), {.target = "/1"}));
  EXPECT_EQ(zero.answer().status, 200);
  EXPECT_EQ(one.answer().status, 200);
  EXPECT_EQ(zero.line(), "first");
  EXPECT_EQ(one.line(), "first");
  while (server.figures().streams < 2) usleep(1000);
  server.publish(1, std::make_shared<std::string>("to one\n"));
  server.publish(0, std::make_shared<std::string>("to zero\n"));
  EXPECT_EQ(zero.line(), "to zero");
  EXPECT_EQ(one.line(), "to one");
}

TEST(HttpServer, AStreamEndsWhenItIsNotAllowedAnyMore) {
  std::atomic<bool> is_allowed = true;
  HttpServer server({}, [&](const Request&) {
    return Admission{.answer = [&](Request&) {
      Response response = text_answer("");
      response.channel = 0;
      response.is_still_allowed = [&] { return is_allowed.load(); };
      return response;
    }};
  });
  Client client(server.port());
  client.send(as_sent(server.port(), {}));
  while (server.figures().streams < 1) usleep(1000);
  is_allowed = false;
  server.publish(0, std::make_shared<std::string>("secret\n"));
  EXPECT_EQ(client.answer().status, 200);
  EXPECT_EQ(client.line(), "") << "closed, and nothing before that";
}

TEST(HttpServer, WhoDoesNotReadAStreamIsDisconnected) {
  HttpServer server({}, [&](const Request&) {
    return Admission{.answer = [](Request&) {
      Response response = text_answer("");
      response.channel = 0;
      return response;
    }};
  });
  Client client(server.port());
  client.send(as_sent(server.port(), {}));
  while (server.figures().streams < 1) usleep(1000);
  const auto event = std::make_shared<std::string>(1 << 20, 'x');
  while (server.figures().streams > 0) {
    server.publish(0, event);
    usleep(1000);
  }
  EXPECT_EQ(server.figures().streams, 0U);
}

TEST(HttpServer, StreamsHaveALimit) {
  HttpOptions options;
  options.most_streams = 1;
  const HttpServer server(options, [&](const Request&) {
    return Admission{.answer = [](Request&) {
      Response response = text_answer("");
      response.channel = 0;
      return response;
    }};
  });
  Client client(server.port());
  client.send(as_sent(server.port(), {}));
  EXPECT_EQ(client.answer().status, 200);
  while (server.figures().streams < 1) usleep(1000);
  EXPECT_EQ(ask(server.port(), {}).status, 503);
}

TEST(HttpServer, OneAddressCannotTakeAllConnections) {
  HttpOptions options;
  options.most_connections_per_address = 4;
  const HttpServer server(options, echo);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<Client>(server.port()));
    clients.back()->send(as_sent(server.port(), {}));
    EXPECT_EQ(clients.back()->answer().status, 200);
  }
  EXPECT_EQ(ask(server.port(), {}).status, 0);
  EXPECT_EQ(server.figures().connections_refused, 1U);
  clients.pop_back();
  while (server.figures().connections > 3) usleep(1000);
  EXPECT_EQ(ask(server.port(), {}).status, 200);
}

TEST(HttpServer, TenThousandConnectionsLeaveItUp) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  HttpOptions options;
  options.most_connections = 100;
  options.most_connections_per_address = 100;
  const HttpServer server(options, echo);
  Client before(server.port());
  before.send(as_sent(server.port(), {}));
  ASSERT_EQ(before.answer().status, 200);
  constexpr std::size_t kWanted = 10'000;
  const auto most = static_cast<std::size_t>(
      std::min<rlim_t>(kWanted, limit.rlim_cur > 300 ? limit.rlim_cur - 300 : 0));
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i < most; ++i) {
    clients.push_back(std::make_unique<Client>(server.port()));
    if (!clients.back()->is_connected()) clients.pop_back();
    EXPECT_LE(server.figures().connections, 100U);
  }
  EXPECT_GT(server.figures().connections_refused, clients.size() / 2);
  before.send(as_sent(server.port(), {}));
  EXPECT_EQ(before.answer().status, 200) << "who is connected is served";
  clients.clear();
  while (server.figures().connections > 50) usleep(1000);
  EXPECT_EQ(ask(server.port(), {}).status, 200) << "and whoever comes afterwards";
  if (most < kWanted) GTEST_SKIP() << "with " << most << ", as many as this process may have";
}

TEST(HttpServer, APortThatIsTakenIsSaid) {
  const HttpServer server({}, echo);
  HttpOptions same;
  same.port = server.port();
  EXPECT_THROW(HttpServer(same, echo), base::Error);
  HttpOptions wrong;
  wrong.address = "gpu1.example";
  EXPECT_THROW(HttpServer(wrong, echo), base::Error);
}

}  // namespace
}  // namespace fathom::serve
