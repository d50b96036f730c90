"""Operations that run where they are fastest: lattice, batches, memory monitor, routing.

>>> from fathom.runtime import UnifiedCatalyticLattice
>>> lattice = UnifiedCatalyticLattice(dimensions=2, size=4, enable_gpu=False)
>>> path, ms = lattice.find_shortest_path((0, 0), (3, 3))
>>> len(path)
7
>>> secret = lattice.xor_transform(b"keep this")
>>> bytes(lattice.xor_transform(secret))[:9]
b'keep this'
"""
import gc
import sys
import threading
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Optional, Sequence, Union

from . import _runtime


class UnifiedCatalyticLattice:
    """An N-dimensional lattice; its work goes to the device that is fastest for it, as far as was measured."""

    def __init__(self, dimensions: int, size: int, enable_gpu: bool = True, enable_smart_routing: bool = True, *,
                 obstacles: "Sequence[int]" = (), weights: "Sequence[int]" = ()) -> None:
        self.dimensions = dimensions
        self.size = size
        self._obstacles = list(obstacles)
        self._weights = list(weights)
        self._compute = _runtime.Compute(enable_gpu, None)
        if not enable_smart_routing:
            devices = self._compute.devices()
            self._compute.force(devices[1] if enable_gpu and len(devices) > 1 else devices[0])
        self._native: Any = None

    def build_lattice(self) -> "UnifiedCatalyticLattice":
        """Builds it now rather than when it is first used."""
        if self._native is None:
            self._native = _runtime.Lattice(self._compute, self.dimensions, self.size, self._obstacles, self._weights)
        return self

    def xor_transform(self, array: Any, key: int = 0) -> Any:
        """XORs each word of an array with what its node and `key` give: twice is as if never.

        Gives a NumPy array for one; bytes, in whole words of four, for other objects with bytes.
        """
        out = self._built().xor_transform(_buffer(array), key)
        return _like(array, out)

    def find_shortest_path(self, a: Any, b: Any, search: str = "breadth_first") -> "tuple[Optional[list[Any]], float]":
        """The nodes of a shortest path and the milliseconds it took; None where there is none.

        Nodes are numbers, or coordinates; the path is of the same kind. `search` is breadth_first, a_star or
        bidirectional.
        """
        if search not in ("breadth_first", "a_star", "bidirectional"):
            raise ValueError(f"unknown search {search!r}: use breadth_first, a_star or bidirectional")
        native = self._built()
        ends = [each if isinstance(each, int) else native.node_at(list(each)) for each in (a, b)]
        nodes, ms, _ = native.shortest_path(ends[0], ends[1], search)
        if nodes is None or isinstance(a, int):
            return nodes, ms
        return [tuple(native.coordinates(node)) for node in nodes], ms

    def analyze_structure(self) -> "dict[str, Any]":
        """Nodes, edges, components, degrees."""
        return dict(self._built().structure())

    def _built(self) -> Any:
        return self.build_lattice()._native


class LatticeBatch:
    """Does the same to many arrays as few calls."""

    def __init__(self, lattices: "Iterable[UnifiedCatalyticLattice]", max_batch_size: int = 16) -> None:
        self._lattices = list(lattices)
        if not self._lattices:
            raise ValueError("create_batch needs at least one lattice")
        if max_batch_size < 1:
            raise ValueError(f"max_batch_size must be at least 1, not {max_batch_size}")
        self.max_batch_size = max_batch_size
        self.items = 0
        self.calls = 0
        self.took_ms = 0.0

    def batch_xor_transform(self, arrays: "Sequence[Any]", key: int = 0) -> "list[Any]":
        """What xor_transform of the lattice at the same place gives, of each array; lattices begin again at their end."""
        natives = [each._built() for each in self._lattices]
        out, calls, ms = _runtime.batch_xor(natives, [_buffer(each) for each in arrays], key, self.max_batch_size)
        self.items += len(arrays)
        self.calls += calls
        self.took_ms += ms
        return [_like(before, after) for before, after in zip(arrays, out)]

    def execute_parallel(self, functions: "Iterable[Callable[[], Any]]") -> "list[Any]":
        """Calls all functions on all cores and gives their results; in the place of one that fails is its exception."""
        all_of_them = list(functions)
        results, _, ms = _runtime.execute_parallel(all_of_them)
        self.items += len(all_of_them)
        self.took_ms += ms
        return list(results)

    def print_stats(self) -> None:
        """Prints how many items became how many calls."""
        print(f"{self.items:,} items in {self.calls:,} calls, {self.took_ms:,.3f} ms")


def create_batch(lattices: "Iterable[UnifiedCatalyticLattice]", max_batch_size: int = 16) -> LatticeBatch:
    """A batch of lattices."""
    return LatticeBatch(lattices, max_batch_size)


@dataclass(frozen=True)
class MemoryStats:
    """Memory of the machine and of the GPUs that were found; what is not known is None."""

    current_allocated_mb: Optional[float]
    peak_allocated_mb: float
    total_mb: Optional[float]
    pressure: str
    cleanups: int
    freed_mb: float
    sources: "list[dict[str, Any]]"


class MemoryMonitor:
    """Says whether something fits, and makes room."""

    def __init__(self) -> None:
        self._native = _runtime.MemoryMonitor()
        self._native.add("host")
        self._native.add("devices")
        self._native.on_clean_up(0, _release_unused)
        self._native.look()

    def can_allocate(self, size_mb: float) -> bool:
        """Whether so much more fits everywhere; cleans up first where it does not."""
        return bool(self._native.can_allocate(float(size_mb)))

    def cleanup_memory(self, wanted_mb: Optional[float] = None) -> float:
        """Gives back what can be, and says how many MB that was."""
        return float(self._native.clean_up(-1.0 if wanted_mb is None else float(wanted_mb)))

    def on_cleanup(self, function: "Callable[[float], Optional[float]]", priority: int = 1) -> None:
        """Calls `function` with the MB that are wanted when room is needed; it says how many it gave back."""
        self._native.on_clean_up(priority, function)

    def get_stats(self) -> MemoryStats:
        """Levels, peaks and pressure, as of now."""
        self._native.look()
        found = self._native.statistics()
        host = found["sources"][0]
        return MemoryStats(host["used_mb"], host["peak_mb"], host["total_mb"], self._native.pressure(), found["clean_ups"],
                           found["freed_mb"], found["sources"])


def _release_unused(_wanted_mb: float) -> float:
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available() or not torch.cuda.is_initialized():
        return 0.0
    before = torch.cuda.memory_reserved()
    torch.cuda.empty_cache()
    return float(before - torch.cuda.memory_reserved()) / (1 << 20)


_monitor_lock = threading.Lock()
_memory_monitor: Optional[MemoryMonitor] = None


def get_memory_monitor() -> MemoryMonitor:
    """The memory monitor of this process: always the same."""
    global _memory_monitor
    with _monitor_lock:
        if _memory_monitor is None:
            _memory_monitor = MemoryMonitor()
        return _memory_monitor


def route(operation: str, size: float) -> "dict[str, Any]":
    """Where an operation of a size would run, and why; `fathom tune` measures this machine."""
    return dict(_runtime.Router().route(operation, float(size)))


def _buffer(array: Any) -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(array, numpy.ndarray):
        return numpy.ascontiguousarray(array)
    return array


def _like(array: Any, data: bytes) -> "Union[bytes, Any]":
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(array, numpy.ndarray):
        return data
    return numpy.frombuffer(bytearray(data)[: array.nbytes], dtype=array.dtype).reshape(array.shape)


__all__ = ["LatticeBatch", "MemoryMonitor", "MemoryStats", "UnifiedCatalyticLattice", "create_batch", "get_memory_monitor",
           "route"]
