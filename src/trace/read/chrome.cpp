#include "trace/read/chrome.h"

#include "base/error.h"

namespace fathom::trace {

Trace read_chrome(const std::shared_ptr<const Input>& input, unsigned /*threads*/) {
  throw base::Error(input->name(), "Chrome JSON cannot be read yet");
}

}  // namespace fathom::trace
