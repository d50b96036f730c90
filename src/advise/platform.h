#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyze/operations/server.h"
#include "trace/trace.h"

namespace fathom::advise {

enum class Runtime : std::uint8_t { unknown, cuda, hip, opencl };

using analyze::Server;

// How PyTorch shards the parameters of a model over ranks.
enum class Sharding : std::uint8_t {
  none,
  wrapper,      // FullyShardedDataParallel
  fully_shard,  // the function of that name, "FSDP2"
};

// Units for matrix products that a GPU is known to have, by its name.
enum class TensorCores : std::uint8_t { none_known, without_tf32, with_tf32 };

// What a trace is of, as far as its names tell: advice must fit it.
struct Platform {
  Runtime runtime = Runtime::unknown;
  TensorCores tensor_cores = TensorCores::none_known;
  Server server = Server::none;
  bool is_pytorch = false;
  bool is_jax = false;
  bool uses_transformers = false;  // Hugging Face's, as its frames show
  bool is_ddp = false;             // DistributedDataParallel
  Sharding sharding = Sharding::none;
  bool trains = false;         // there is a backward pass or an optimizer
  bool has_optimizer = false;  // an optimizer of PyTorch was seen at work
  bool optimizer_is_fused = false;
  std::string optimizer;  // its class ("SGD"); empty where that is not known
};

Platform platform_of(const trace::Trace& trace);

TensorCores tensor_cores_of(std::string_view device_name);

// How to do something. The words hold for all; what goes on from there is for one kind of program,
// and its lines after the first are code. Code for CUDA is such that renaming makes it HIP.
struct Hints {
  std::string_view words;
  std::string_view pytorch = {};
  std::string_view jax = {};
  std::string_view cuda = {};
  std::string_view opencl = {};
};

std::string hint_for(const Platform& platform, const Hints& hints);

// A line of code that makes the optimizer launch less; empty where there is none to be seen, or
// none that could.
std::string fused_optimizer_line(const Platform& platform);

}  // namespace fathom::advise
