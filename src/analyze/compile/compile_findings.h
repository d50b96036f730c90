#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/compile/compile_log.h"
#include "analyze/compile/compile_tree.h"

namespace fathom::analyze {

// Breaks for one reason at one place.
struct BreakGroup {
  GraphBreak example;
  std::string function;  // the frame that broke
  std::uint64_t count = 0;
  std::string advice;  // torch's own hint, else ours; empty where there is none
};

// A function that was compiled more than once. The first of a frame is not again.
struct RecompileGroup {
  std::string function;
  std::string place;                 // "model.py:41"
  std::uint64_t times = 0;           // compiled again
  std::int64_t total_ns = 0;         // spent on that
  std::vector<std::string> reasons;  // each guard that failed, once
  std::string advice;
};

struct CompileFailure {
  std::string function, place, type, reason;
  std::uint64_t count = 0;
  std::string advice;
};

struct CacheCounts {
  std::array<std::uint64_t, 3> outcomes = {};  // by CacheOutcome
  std::optional<std::int64_t> saved_ns;        // by hits, where torch estimated it
  std::uint64_t of(CacheOutcome outcome) const {
    return outcomes[static_cast<std::size_t>(outcome)];
  }
};

struct CudagraphSkip {
  std::string reason;
  std::uint64_t count = 0;
  std::string advice;
};

// A function whose CUDA graphs were recorded more than once.
struct CudagraphRerecording {
  std::string function;
  std::string place;
  std::uint64_t times = 0;  // again
  std::string advice;
};

// What a rank did more or less often than the others, which then wait for it, or it for them.
struct RankDifference {
  std::int64_t rank = 0;
  std::string what;  // "compilations", "graph breaks", "recompilations", "misses in fx_graph"
  std::uint64_t count = 0;
  std::uint64_t usual = 0;  // the median of all ranks
};

// What the logs of a job say: one log, or one per rank.
struct CompileFindings {
  std::vector<CompileLog> logs;  // by rank

  std::uint64_t compilations = 0;
  std::uint64_t functions = 0;           // different ones
  std::optional<std::int64_t> total_ns;  // of the rank that compiled longest
  std::array<std::optional<std::int64_t>, kCompilePhases> phases;  // of the same rank
  std::uint64_t breaks = 0;
  std::uint64_t recompiles = 0;
  std::uint64_t failures = 0;
  std::optional<Fusion> fusion;  // of all graphs
  std::map<std::string, CacheCounts> caches;

  std::vector<BreakGroup> break_groups;          // most first
  std::vector<RecompileGroup> recompile_groups;  // most time first
  std::vector<CompileFailure> failure_groups;
  std::vector<CudagraphSkip> cudagraph_skips;
  std::vector<CudagraphRerecording> cudagraph_rerecordings;  // most first
  std::vector<RankDifference> differences;
  std::vector<CompileTreeNode> tree;  // who made it compile what (compile_tree.h)
};

CompileFindings compile_findings(std::vector<CompileLog> logs);

}  // namespace fathom::analyze
