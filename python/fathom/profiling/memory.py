"""Memory over time: of the GPU as recorders and PyTorch tell it, and of the process."""
import json
import os
import sys
import threading
from contextlib import contextmanager
from typing import Any, Iterator, Optional

from .. import _native, _scopes
from ..files import write_json

_BEFORE = "held before"  # what PyTorch's allocator had when the tracking began


class MemoryProfiler:
    """Follows memory while something runs.

    Device memory is what OpenCL and CUDA recorders see, or, where the program has loaded PyTorch and uses a GPU,
    what its allocator holds, with what it held before, and peaks between two looks; memory of the process on the host is
    sampled.
    """

    def __init__(self, sample_interval_ms: float = 1.0, record_history: bool = True) -> None:
        if not sample_interval_ms > 0:
            raise ValueError(f"sample_interval_ms must be above 0, not {sample_interval_ms}")
        self.sample_interval_ms = sample_interval_ms
        self._native = _native.MemoryProfiler(sample_interval_ms, record_history)
        self._open = 0
        self._torch: Optional[_TorchSampler] = None

    @contextmanager
    def track(self, name: str) -> "Iterator[MemoryProfiler]":
        """Follows memory inside of a `with` block, which is a scope, too."""
        if self._open == 0:
            self._native.start()
            self._torch = _TorchSampler.begin(self.sample_interval_ms)
        self._open += 1
        track = self._native.track(name)
        try:
            with _scopes.scope(name):
                yield self
        finally:
            if self._torch is not None:
                self._torch.sample()
            track.end()
            self._open -= 1
            if self._open == 0:
                if self._torch is not None:
                    self._torch.stop()
                self._native.stop()

    def get_timeline(self) -> "list[dict[str, Any]]":
        """`time_ms, allocated_mb, reserved_mb, rss_mb`, from the beginning of the outermost track on."""
        return list(self._native.timeline())

    def get_peak_analysis(self) -> "dict[str, Any]":
        """`peak_allocated_mb, peak_time_ms, peak_rss_mb` and what was `alive` then."""
        return dict(self._native.peak())

    def get_leaks(self) -> "list[dict[str, Any]]":
        """What was allocated since the beginning and is there still, most bytes first."""
        return [each for each in self._native.leaks() if each["call"] != _BEFORE]

    def get_tracked(self) -> "list[dict[str, Any]]":
        """What the tracks of each name did to memory."""
        return list(self._native.tracked())

    def export(self, path: Any) -> None:
        """Writes all of it as JSON."""
        self._native.export_json(os.fspath(path))
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        if any(each["call"] == _BEFORE for each in data["leaks"]):
            data["leaks"] = [each for each in data["leaks"] if each["call"] != _BEFORE]
            write_json(data, path)


class _TorchSampler(threading.Thread):
    """Tells the profiler what PyTorch's allocator holds on each GPU."""

    def __init__(self, torch: Any, interval_ms: float) -> None:
        super().__init__(name="fathom memory", daemon=True)
        self._cuda = torch.cuda
        self._interval = interval_ms / 1e3
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._levels = [_Level(torch.cuda, device) for device in range(torch.cuda.device_count())]

    @classmethod
    def begin(cls, interval_ms: float) -> "Optional[_TorchSampler]":
        torch = sys.modules.get("torch")
        if torch is None or not torch.cuda.is_available() or not torch.cuda.is_initialized():
            return None
        sampler = cls(torch, interval_ms)
        sampler.start()
        return sampler

    def sample(self) -> None:
        with self._lock:
            for level in self._levels:
                level.look()

    def run(self) -> None:
        while not self._done.wait(self._interval):
            self.sample()

    def stop(self) -> None:
        self._done.set()
        self.join()


class _Level:
    """What one GPU's allocator holds, told as two blocks: what it held before, and what came since."""

    def __init__(self, cuda: Any, device: int) -> None:
        self._cuda = cuda
        self._device = device
        self._first = cuda.memory_allocated(device)
        self._highest = cuda.max_memory_allocated(device)  # of the program: it is not ours to reset
        self._blocks = [0, 0]
        self._tell(self._first)

    def look(self) -> None:
        highest = self._cuda.max_memory_allocated(self._device)
        if highest > self._highest:  # since the last look, and perhaps gone again
            self._highest = highest
            self._tell(highest)
        self._tell(self._cuda.memory_allocated(self._device))

    def _tell(self, level: int) -> None:
        wanted = [min(level, self._first), max(level - self._first, 0)]
        for place, (before, now) in enumerate(zip(self._blocks, wanted)):
            if before == now:
                continue
            reserved = self._cuda.memory_reserved(self._device)
            block = 2 * self._device + place + 1  # no address of anything; a free names its block
            call = "torch" if place else _BEFORE
            if before:
                _native.record_memory(-before, block, self._device, reserved, call)
            if now:
                _native.record_memory(now, block, self._device, reserved, call)
        self._blocks = wanted
