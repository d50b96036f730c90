#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/run_program.h"
#include "serve/certificate.h"
#include "serve/client.h"
#include "serve/served.h"

namespace fathom::serve {
namespace {

struct TlsOutcome {
  bool is_agreed = false;
  std::string answer;
};

// Shakes hands with that version alone, and asks.
TlsOutcome ask_with(int version, std::uint16_t port, const std::string& question) {
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_security_level(context, 0);  // or OpenSSL itself would refuse the old ones
  SSL_CTX_set_min_proto_version(context, version);
  SSL_CTX_set_max_proto_version(context, version);
  const int to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  TlsOutcome outcome;
  SSL* const tls = SSL_new(context);
  if (connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    SSL_set_fd(tls, to);
    outcome.is_agreed = SSL_connect(tls) == 1;
    if (outcome.is_agreed) SSL_write(tls, question.data(), static_cast<int>(question.size()));
    char buffer[4096];
    int size = 0;
    while (outcome.is_agreed && (size = SSL_read(tls, buffer, sizeof buffer)) > 0)
      outcome.answer.append(buffer, static_cast<std::size_t>(size));
  }
  SSL_free(tls);
  SSL_CTX_free(context);
  close(to);
  return outcome;
}

class TlsTest : public testing::Test {
 protected:
  cli::Scratch keys;
  Certificate made = make_certificate();
  std::string certificate = keys.write("cert.pem", made.certificate_pem);
  std::string key = keys.write("key.pem", made.key_pem);
  Served::Change with_tls = [this](ServerOptions& options) {
    options.http.tls_certificate = certificate;
    options.http.tls_key = key;
  };
};

TEST_F(TlsTest, VersionsSince12AreSpokenAndOlderOnesAreNot) {
  const Served served(with_tls);
  const std::string question =
      as_sent(served.port(), {.target = "/api/health", .headers = {"Connection: close"}});
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION})
    EXPECT_FALSE(ask_with(version, served.port(), question).is_agreed) << version;
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const TlsOutcome outcome = ask_with(version, served.port(), question);
    EXPECT_TRUE(outcome.is_agreed) << version;
    EXPECT_NE(outcome.answer.find(R"({"status":"ok"})"), std::string::npos) << outcome.answer;
  }
}

TEST_F(TlsTest, PlainHttpGetsNoAnswerThere) {
  const Served served(with_tls);
  EXPECT_NE(served.get("/api/health").status, 200);
}

TEST_F(TlsTest, CookiesAreForTlsAlone) {
  const Served served(with_tls);
  const TlsOutcome outcome =
      ask_with(TLS1_3_VERSION, served.port(),
               as_sent(served.port(), {.method = "POST",
                                       .target = "/api/login",
                                       .headers = {kJsonType, "Connection: close"},
                                       .body = "{\"token\":\"" + served.viewer + "\"}"}));
  EXPECT_NE(outcome.answer.find("SameSite=Strict; Secure"), std::string::npos) << outcome.answer;
}

TEST_F(TlsTest, WhatIsNoCertificateIsSaid) {
  const auto start = [&](const std::string& cert_file, const std::string& key_file) {
    Served served([&](ServerOptions& options) {
      options.http.tls_certificate = cert_file;
      options.http.tls_key = key_file;
    });
  };
  EXPECT_THROW(start(key, key), base::Error);
  EXPECT_THROW(start(certificate, keys.path("missing")), base::Error);
  EXPECT_THROW(start(certificate, ""), base::Error);
  EXPECT_THROW(start(certificate, keys.write("other.pem", make_certificate().key_pem)),
               base::Error);
}

TEST_F(TlsTest, AnotherAddressNeedsIt) {
  const auto start = [&](bool says_so) {
    Served served([&](ServerOptions& options) {
      options.http.address = "0.0.0.0";
      options.may_send_unencrypted = says_so;
    });
    return served.get("/api/health").status;
  };
  EXPECT_THROW(start(false), base::Error);
  EXPECT_EQ(start(true), 200);
  const Served encrypted([&](ServerOptions& options) {
    with_tls(options);
    options.http.address = "0.0.0.0";
    options.hosts = {"gpu1.example"};
  });
  EXPECT_EQ(encrypted.server->url(), fmt::format("https://gpu1.example:{}/", encrypted.port()));
}

}  // namespace
}  // namespace fathom::serve
