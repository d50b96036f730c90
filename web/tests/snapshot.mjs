// A memory snapshot as PyTorch dumps one: a training step, small enough to count by hand.

// Plain data as a pickle (protocol 4).
export function pickled(value) {
  const bytes = (item) => {
    if (Array.isArray(item)) return Buffer.concat([Buffer.from("]("), ...item.map(bytes), Buffer.from("e")]);
    if (typeof item === "object") return Buffer.concat([Buffer.from("}("), ...Object.entries(item).flat().map(bytes), Buffer.from("u")]);
    if (typeof item === "string") return Buffer.concat([Buffer.from([0x8c, Buffer.byteLength(item)]), Buffer.from(item)]);
    const number = Buffer.alloc(10);
    number.set([0x8a, 8]);
    number.writeBigInt64LE(BigInt(item), 2);
    return number;
  };
  return Buffer.concat([Buffer.from([0x80, 4]), bytes(value), Buffer.from(".")]);
}

const MB = 2 ** 20;
const python = (file, line, name) => ({ filename: file, line, name });
const native = (name) => python("??", 0, name);
const kLibrary = "/home/me/.venv/lib/python3.12/site-packages";

const kForward = [
  native("at::_ops::mm::call(at::Tensor const&)"), python(`${kLibrary}/einops/_backends.py`, 291, "einsum"),
  python("/home/me/project/model.py", 39, "forward"), python(`${kLibrary}/torch/nn/modules/module.py`, 1790, "_call_impl"), python("/home/me/project/train.py", 7, "main"),
];
const kBackward = [
  native("at::_ops::neg::redispatch(c10::DispatchKeySet)"), native("torch::autograd::generated::LogBackward0::apply(std::vector)"),
  native("torch::autograd::Engine::evaluate_function(std::shared_ptr)"),
];
const kOptimizer = [python("/home/me/project/optimizer.py", 76, "step"), python("/home/me/project/train.py", 9, "main")];

// 100 MB of weights and 40 MB of optimizer state from before; forward, backward, an optimizer step; then an allocation that fails.
export function trainingSnapshot() {
  const event = (time_us, action, addr, size, frames = []) => ({ action, addr, size: size * MB, stream: 0, time_us, frames });
  const segment = (address, total, blocks) => ({
    device: 0, address, total_size: total * MB,
    blocks: blocks.map(([size, state]) => ({ size: size * MB, requested_size: size * MB, state })),
  });
  const at = (number) => number * 2 ** 30;
  const free = (time_us, addr, size) => event(time_us, "free_completed", addr, size);
  return pickled({
    segments: [
      segment(at(1), 150, [[100, "active_allocated"], [50, "inactive"]]),
      segment(at(2), 40, [[40, "inactive"]]),
      segment(at(3), 30, [[30, "inactive"]]),
      segment(at(4), 100, [[100, "active_allocated"]]),
      segment(at(5), 50, [[40, "active_allocated"], [10, "inactive"]]),
    ],
    device_traces: [[
      event(1000, "alloc", at(3), 30, kForward),
      event(2000, "alloc", at(4), 100, kBackward),
      free(2500, at(3), 30),
      event(3000, "alloc", at(5), 40, kOptimizer),
      free(3500, at(2), 40),
      { action: "oom", device_free: 5 * MB, size: 2048 * MB, stream: 0, time_us: 3900, frames: kForward },
      event(4000, "alloc", at(3), 1, kForward),
      free(4500, at(3), 1),
    ]],
    external_annotations: [
      { stage: "START", name: "Optimizer.step#SGD.step", device: 0, time_us: 2900 },
      { stage: "END", name: "Optimizer.step#SGD.step", device: 0, time_us: 3600 },
    ],
  });
}
