#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/builder.h"
#include "trace/read/snapshot/pickle.h"

namespace fathom::trace {

// Who allocated: the stacks of a snapshot, and of each the one frame to hold responsible.
//
// That is the innermost Python frame in the user's own files: not in an installed package, Python's
// own library, PyTorch, einops or transformers. Where there is none, the innermost Python frame
// outside PyTorch. Without any (in the backward) the operator, and the autograd node that ran it:
// "LogBackward0 · at::_ops::neg".
class StackReader {
 public:
  StackReader(const Pickle& pickle, TracePart& into) : pickle_(pickle), part_(into) {}

  struct Place {
    NameId site = 0;
    StackId stack = 0;
  };
  Place of(PickleRef owner);  // a block or an event: what has "frames"

 private:
  // What a frame is, the more telling kinds last.
  enum class Kind : std::uint8_t { noise, engine, node, op, library, user };
  struct Frame {
    Kind kind = Kind::noise;
    NameId name = 0;
  };

  Frame read(PickleRef frame);
  const Frame& frame(PickleRef frame);
  NameId site_of(const std::vector<Frame>& frames);
  StackId stack_of(const std::vector<Frame>& frames);

  const Pickle& pickle_;
  TracePart& part_;
  std::unordered_map<PickleRef, Frame> frames_;  // by their value
  std::unordered_map<PickleRef, Place> places_;  // by the list of their frames
  std::map<std::pair<std::vector<NameId>, bool>, StackId> stacks_;
};

}  // namespace fathom::trace
