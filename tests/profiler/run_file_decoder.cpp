#include "profiler/run_file_decoder.h"

#include <fstream>
#include <iterator>
#include <protozero/pbf_reader.hpp>
#include <stdexcept>

namespace fathom {
namespace {

using protozero::pbf_reader;

void read_clocks(pbf_reader snapshot, DecodedSequence& sequence) {
  while (snapshot.next(1)) {
    pbf_reader clock = snapshot.get_message();
    std::uint64_t id = 0;
    std::uint64_t time = 0;
    bool incremental = false;
    while (clock.next()) {
      if (clock.tag() == 1) {
        id = clock.get_uint64();
      } else if (clock.tag() == 2) {
        time = clock.get_uint64();
      } else if (clock.tag() == 3) {
        incremental = clock.get_bool();
      } else {
        clock.skip();
      }
    }
    if (id != 64) continue;
    sequence.now_ns = static_cast<std::int64_t>(time);
    sequence.incremental = incremental;
  }
}

void read_names(pbf_reader interned, DecodedSequence& sequence) {
  while (interned.next(2)) {
    pbf_reader entry = interned.get_message();
    std::uint64_t iid = 0;
    std::string name;
    while (entry.next()) {
      if (entry.tag() == 1) {
        iid = entry.get_uint64();
      } else {
        name = entry.get_string();
      }
    }
    sequence.names[iid] = name;
  }
}

void read_event(std::string_view bytes, DecodedSequence& sequence) {
  pbf_reader event(bytes.data(), bytes.size());
  std::uint64_t type = 0;
  std::string name;
  std::uint64_t track = sequence.track;
  while (event.next()) {
    if (event.tag() == 9) {
      type = event.get_uint64();
    } else if (event.tag() == 10) {
      name = sequence.names.at(event.get_uint64());
    } else if (event.tag() == 11) {
      track = event.get_uint64();
    } else if (event.tag() == 23) {
      name = event.get_string();
    } else {
      event.skip();
    }
  }
  std::vector<std::size_t>& open = sequence.open[track];
  if (type == 1) {
    DecodedSlice slice;
    slice.name = name;
    slice.begin_ns = sequence.now_ns;
    slice.depth = open.size();
    slice.begin_annotations = bytes;
    open.push_back(sequence.slices.size());
    sequence.slices.push_back(slice);
  } else if (type == 2) {
    if (open.empty()) throw std::runtime_error("an end without a begin");
    DecodedSlice& slice = sequence.slices[open.back()];
    slice.end_ns = sequence.now_ns;
    slice.end_annotations = bytes;
    open.pop_back();
  }
}

void read_track(pbf_reader descriptor, DecodedRun& run) {
  std::uint64_t uuid = 0;
  while (descriptor.next()) {
    if (descriptor.tag() == 1) {
      uuid = descriptor.get_uint64();
    } else if (descriptor.tag() == 2) {
      run.named_tracks[uuid] = descriptor.get_string();
    } else if (descriptor.tag() == 4) {
      pbf_reader thread = descriptor.get_message();
      while (thread.next(2)) run.thread_tracks[uuid] = thread.get_int32();
    } else {
      descriptor.skip();
    }
  }
}

void read_run(pbf_reader fathom, DecodedRun& run) {
  while (fathom.next()) {
    if (fathom.tag() == 2) {
      run.command = fathom.get_string();
    } else if (fathom.tag() == 6) {
      run.dropped_scopes = fathom.get_uint64();
    } else if (fathom.tag() == 7) {
      pbf_reader operation = fathom.get_message();
      std::string name;
      DecodedOperation figures;
      while (operation.next()) {
        if (operation.tag() == 1) {
          name = operation.get_string();
        } else if (operation.tag() == 2) {
          figures.calls = operation.get_uint64();
        } else if (operation.tag() == 3) {
          figures.total_ns = operation.get_uint64();
        } else {
          operation.skip();
        }
      }
      run.operations[name] = figures;
    } else {
      fathom.skip();
    }
  }
}

void read_packet(pbf_reader packet, DecodedRun& run) {
  // The sequence id may come after what it is about.
  pbf_reader look_ahead = packet;
  std::uint32_t id = 0;
  while (look_ahead.next(10)) id = look_ahead.get_uint32();
  DecodedSequence& sequence = run.sequences[id];
  std::optional<std::string_view> event;
  while (packet.next()) {
    switch (packet.tag()) {
      case 6:
        read_clocks(packet.get_message(), sequence);
        break;
      case 8:
        sequence.now_ns = (sequence.incremental ? sequence.now_ns : 0) +
                          static_cast<std::int64_t>(packet.get_uint64());
        break;
      case 11: {
        const auto view = packet.get_view();
        event = std::string_view(view.data(), view.size());
        break;
      }
      case 12:
        read_names(packet.get_message(), sequence);
        break;
      case 60:
        read_track(packet.get_message(), run);
        break;
      case 6970:
        read_run(packet.get_message(), run);
        break;
      default:
        packet.skip();
    }
  }
  if (event) read_event(*event, sequence);
  ++run.packets;
}

}  // namespace

std::size_t DecodedRun::begun(std::string_view name) const {
  std::size_t count = 0;
  for (const auto& [id, sequence] : sequences) {
    for (const DecodedSlice& slice : sequence.slices) count += slice.name == name ? 1 : 0;
  }
  return count;
}

std::vector<DecodedSlice> DecodedRun::slices(std::string_view name) const {
  std::vector<DecodedSlice> found;
  for (const auto& [id, sequence] : sequences) {
    for (const DecodedSlice& slice : sequence.slices) {
      if (slice.name == name) found.push_back(slice);
    }
  }
  return found;
}

DecodedRun decode_run(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("no file " + path);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  DecodedRun run;
  pbf_reader trace(bytes.data(), bytes.size());
  try {
    while (trace.next(1)) read_packet(trace.get_message(), run);
  } catch (const protozero::exception&) {
    run.cut = true;
  }
  return run;
}

}  // namespace fathom
