#pragma once

#include <openssl/ssl.h>
#include <unistd.h>

#include <boost/asio/ssl/context.hpp>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"
#include "serve/http_shared.h"

namespace fathom::serve {

[[noreturn]] inline void refuse_tls(const std::string& file, const error_code& failed) {
  throw base::Error(file, "cannot be used for TLS: " + failed.message(),
                    "Both are PEM files: the certificate with its chain, and its key");
}

// TLS 1.2 and later, with the certificate of the options.
inline void set_up_tls(asio::ssl::context& tls, const HttpOptions& options) {
  error_code failed;
  for (const std::string& file : {options.tls_certificate, options.tls_key}) {
    if (::access(file.c_str(), R_OK) != 0) throw base::Error(file, std::strerror(errno));
  }
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

}  // namespace fathom::serve
