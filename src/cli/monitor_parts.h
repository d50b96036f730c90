#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/monitor_layout.h"

// The pieces that the screen of `fathom monitor` is made of.
namespace fathom::cli {

inline constexpr std::size_t kNarrow = 60;  // columns below which less is said

enum class BlockSize : std::size_t { line = 1, half = 2, bars = 3, full = 4 };  // in lines

// As many lines as its size says, each of at most `width` columns.
std::vector<ScreenLine> gpu_block(const GpuDevice& device, const MonitorScene& scene,
                                  BlockSize size, std::size_t width);

struct ProcessRow {
  unsigned gpu = 0;
  GpuProcess process;
};
// Those that pass the filter, sorted; commands with secrets masked.
std::vector<ProcessRow> process_rows(const std::vector<GpuDevice>& devices,
                                     const MonitorView& view);
std::vector<ScreenLine> process_lines(const std::vector<ProcessRow>& rows, const MonitorView& view,
                                      std::size_t columns, std::size_t most);

// One line, or its cause on a second.
std::vector<ScreenLine> lines_of_alert(const Alert& alert, const std::vector<GpuDevice>& devices,
                                       std::size_t columns);

// Spaces up to a column.
void pad(ScreenLine& line, std::size_t columns);

// "▁▂▅█": the last values, one per column, 0 to 100; a gap where one is not known.
std::string history_line(const std::vector<std::optional<double>>& values, std::size_t columns);

}  // namespace fathom::cli
