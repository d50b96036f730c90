#include "trace/read/unpack.h"

#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <algorithm>
#include <vector>

namespace fathom::trace {

// One way of unpacking. Reads stored bytes through a window of its own.
class ContentStream::Unpacker {
 public:
  explicit Unpacker(const Input& input) : input_(input) {}
  virtual ~Unpacker() = default;
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  virtual std::size_t read(char* to, std::size_t size) = 0;

  bool is_damaged = false;
  std::uint64_t position = 0;

 protected:
  // The next stored bytes, in `window`; false at the end.
  bool refill() {
    constexpr std::size_t kWindow = 256 * 1024;
    window.resize(kWindow);
    window.resize(input_.read_stored(position, window.data(), kWindow));
    position += window.size();
    return !window.empty();
  }

  const Input& input_;
  std::vector<char> window;
};

namespace {

class Plain final : public ContentStream::Unpacker {
 public:
  using Unpacker::Unpacker;

  std::size_t read(char* to, std::size_t size) override {
    const std::size_t got = input_.read_stored(position, to, size);
    position += got;
    return got;
  }
};

// gzip files may have several members, one after the other; zeros may pad the end.
class Gzip final : public ContentStream::Unpacker {
 public:
  explicit Gzip(const Input& input) : Unpacker(input), state_(std::make_unique<inflate_state>()) {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
    state_->avail_in = 0;
  }

  std::size_t read(char* to, std::size_t size) override {
    std::size_t done = 0;
    while (done < size && !ended_) {
      if (state_->avail_in == 0 && !next_window()) {
        // Input is over, though what the decoder holds back may still fill the room.
        is_damaged |= !between_members_;
        ended_ = between_members_ || drained_;
        if (ended_) break;
        drained_ = true;
      }
      if (between_members_ && !begin_member()) break;
      done += inflate_some(to + done, size - done);
    }
    return done;
  }

 private:
  bool next_window() {
    if (!refill()) return false;
    state_->next_in = reinterpret_cast<std::uint8_t*>(window.data());
    state_->avail_in = static_cast<std::uint32_t>(window.size());
    return true;
  }

  bool begin_member() {
    while (state_->avail_in > 0 && *state_->next_in == 0) {
      ++state_->next_in;
      --state_->avail_in;
    }
    if (state_->avail_in == 0) return true;  // padding so far: look at the next window
    if (*state_->next_in != 0x1F) {
      is_damaged = ended_ = true;
      return false;
    }
    isal_inflate_reset(state_.get());
    state_->crc_flag = ISAL_GZIP;
    between_members_ = false;
    return true;
  }

  std::size_t inflate_some(char* to, std::size_t room) {
    if (between_members_) return 0;
    const auto asked = static_cast<std::uint32_t>(std::min<std::size_t>(room, 1U << 30));
    state_->next_out = reinterpret_cast<std::uint8_t*>(to);
    state_->avail_out = asked;
    const int status = isal_inflate(state_.get());
    const std::size_t got = asked - state_->avail_out;
    if (status < 0) is_damaged = ended_ = true;
    if (state_->block_state == ISAL_BLOCK_FINISH) between_members_ = true;
    if (got > 0) drained_ = false;
    return got;
  }

  std::unique_ptr<inflate_state> state_;
  bool between_members_ = false;
  bool drained_ = false;
  bool ended_ = false;
};

class Zstd final : public ContentStream::Unpacker {
 public:
  explicit Zstd(const Input& input) : Unpacker(input), context_(ZSTD_createDCtx()) {}
  ~Zstd() override { ZSTD_freeDCtx(context_); }

  std::size_t read(char* to, std::size_t size) override {
    ZSTD_outBuffer out{to, size, 0};
    while (out.pos < size && !ended_) {
      if (in_.pos == in_.size) {
        if (!refill()) window.clear();
        in_ = {window.data(), window.size(), 0};
      }
      const std::size_t before = out.pos;
      const std::size_t status = ZSTD_decompressStream(context_, &out, &in_);
      if (ZSTD_isError(status) != 0) {
        is_damaged = ended_ = true;
      } else if (in_.size == 0 && out.pos == before) {
        is_damaged |= !frame_ended_;
        ended_ = true;
      }
      frame_ended_ = status == 0 || (frame_ended_ && in_.size == 0);
    }
    return out.pos;
  }

 private:
  ZSTD_DCtx* context_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool frame_ended_ = false;
  bool ended_ = false;
};

std::unique_ptr<ContentStream::Unpacker> unpacker_of(const Input& input) {
  switch (input.packing()) {
    case Packing::gzip:
      return std::make_unique<Gzip>(input);
    case Packing::zstd:
      return std::make_unique<Zstd>(input);
    case Packing::none:
      break;
  }
  return std::make_unique<Plain>(input);
}

}  // namespace

ContentStream::ContentStream(const Input& input) : unpacker_(unpacker_of(input)) {
  unpacker_->is_damaged = input.is_damaged();
}
ContentStream::~ContentStream() = default;

std::size_t ContentStream::read(char* to, std::size_t size) {
  return unpacker_->read(to, size);
}

bool ContentStream::is_damaged() const {
  return unpacker_->is_damaged;
}

std::uint64_t ContentStream::stored_position() const {
  return unpacker_->position;
}

}  // namespace fathom::trace
