#pragma once

#include <string_view>

#include "trace/kind.h"

namespace fathom::trace {

struct Category {
  SpanKind kind = SpanKind::other;
  bool on_gpu = false;          // its spans are on GPU streams, not on threads
  bool uses_args = true;        // arguments of its spans say more than the viewer needs
  bool has_shape = false;       // arguments may say what its spans worked on
  bool is_launch_flow = false;  // arrows that `correlation` replaces
};

// What a category of any version of Kineto, or a kind as Fathom itself writes it, stands for.
Category category_of(std::string_view text);

}  // namespace fathom::trace
