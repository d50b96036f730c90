#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "advise/facts.h"

namespace fathom::advise {

// A function of Python that reads, decodes or transforms samples on the CPU: of PIL, NumPy, SciPy,
// PyAV, OpenCV and the like, of tokenizers, or of the processors of torchvision and Transformers.
bool prepares_data(std::string_view function);

// "transformers/image_transforms.py(390): normalize" and "<built-in method astype of numpy.ndarray
// object at 0x7f>" → "normalize", "astype".
std::string_view short_function_name(std::string_view function);

// A piece of the host in which it prepares data while the GPU has nothing to do.
struct PreparationPiece {
  std::size_t piece = 0;
  trace::SpanId operation = trace::kNoSpan;  // the outermost that is all in the gap
  std::int64_t time_ns = 0;
};

// In gaps of 10 ms and more, by thread and time. What a DataLoader does is not among them.
std::vector<PreparationPiece> preparation_pieces(const Facts& facts);

}  // namespace fathom::advise
