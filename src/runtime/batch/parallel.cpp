#include <tbb/parallel_for.h>

#include "fathom/batch.h"
#include "fathom/profiler.h"

namespace fathom {

ParallelResult execute_parallel(std::span<const std::function<void()>> functions) {
  FATHOM_SCOPE("execute_parallel");
  ParallelResult result;
  result.errors.resize(functions.size());
  const std::int64_t begin = now_ns();
  tbb::parallel_for(std::size_t{0}, functions.size(), [&](std::size_t i) {
    try {
      functions[i]();
    } catch (const std::exception& error) {
      result.errors[i] = error.what();
    } catch (...) {
      result.errors[i] = "something that is no std::exception was thrown";
    }
  });
  result.took_ns = static_cast<double>(now_ns() - begin);
  for (const auto& error : result.errors) result.failed += error ? 1 : 0;
  return result;
}

}  // namespace fathom
