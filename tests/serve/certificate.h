#pragma once

#include <string>

namespace fathom::serve {

// A certificate of this test's own for 127.0.0.1, and its key.
struct Certificate {
  std::string certificate_pem, key_pem;
};
Certificate make_certificate();

}  // namespace fathom::serve
