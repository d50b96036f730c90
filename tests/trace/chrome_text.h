#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/read/chrome/chrome.h"

namespace fathom::trace {

inline Trace read_text(std::string text, unsigned threads = 1) {
  return read_chrome(Input::from_bytes(std::move(text), "test.json"), threads);
}

// A complete event on thread 7 of process 0, with what else is to be in it.
inline std::string kernel(const std::string& name, const std::string& rest) {
  return R"({"ph":"X","cat":"kernel","name":")" + name + R"(","pid":0,"tid":7,)" + rest + "}";
}

inline const std::string kFirst = kernel("a", R"("ts":100.5,"dur":10)");
inline const std::string kLast = kernel("c", R"("ts":300,"dur":30)");

// A document of three events, the second as given.
inline std::string around(const std::string& event) {
  return R"({"traceEvents":[)" + kFirst + "," + event + "," + kLast + "]}";
}

inline std::vector<std::string> names_of(const Trace& trace) {
  std::vector<std::string> names;
  for (SpanId id = 0; id < trace.spans.size(); ++id) names.emplace_back(trace.name(id));
  return names;
}

}  // namespace fathom::trace
