"""Sessions: a block or a function measured with all there is, in one object."""
import os
import re
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Optional

from .. import _scopes
from ..files import write_text
from ..profiler import get_profiler
from ..torch_trace import TorchRecording
from ..trace import Trace, read
from .memory import MemoryProfiler


@dataclass(frozen=True)
class Kernel:
    """All launches of one kernel."""

    name: str
    calls: int
    cuda_time_us: float
    mean_time_us: float
    global_size: Optional[str] = None
    local_size: Optional[str] = None


@dataclass
class ProfileSession:
    """What a block did. It is filled when the block ends; None is what was not measured."""

    name: str
    total_time_ms: Optional[float] = None
    cuda_time_ms: Optional[float] = None
    cpu_time_ms: Optional[float] = None
    peak_memory_mb: Optional[float] = None
    allocated_memory_mb: Optional[float] = None
    reserved_memory_mb: Optional[float] = None
    peak_host_memory_mb: Optional[float] = None
    iterations: int = 1
    kernels: "list[Kernel]" = field(default_factory=list)
    bottlenecks: "list[dict[str, Any]]" = field(default_factory=list)
    recommendations: "list[str]" = field(default_factory=list)
    trace_path: Optional[str] = None
    flame_graph_data: "Optional[dict[str, Any]]" = None
    memory_timeline: "list[dict[str, Any]]" = field(default_factory=list)

    @property
    def gpu_time_ms(self) -> Optional[float]:
        """The same as `cuda_time_ms`, of whatever GPU."""
        return self.cuda_time_ms


class UnifiedProfiler:
    """Measures blocks and functions: time, GPU work, memory and call paths.

    Where the program has loaded PyTorch, its profiler records the block; elsewhere Fathom's own does, with scopes and
    what its OpenCL and CUDA recorders see.

    >>> import fathom
    >>> from fathom.profiling import UnifiedProfiler
    >>> unified = UnifiedProfiler("out")
    >>> with unified.profile("block") as session:
    ...     with fathom.scope("inside"):
    ...         data = sorted(range(1000))
    >>> [each["operation"] for each in session.bottlenecks if each["operation"] == "inside"]
    ['inside']
    >>> twice = unified.profile_function(sorted, data, name="again", iterations=2)
    >>> unified.compare_sessions(session, twice)["speedup"] is not None
    True
    """

    def __init__(self, output_dir: Any = "fathom_output", enable_trace: bool = True, enable_memory: bool = True,
                 enable_flame_graph: bool = True) -> None:
        self.output_dir = os.fspath(output_dir)
        self.enable_trace = enable_trace
        self.enable_memory = enable_memory
        self.enable_flame_graph = enable_flame_graph
        self.sessions: "list[ProfileSession]" = []

    @contextmanager
    def profile(self, name: str) -> Iterator[ProfileSession]:
        """Gives a session that is filled when the block ends."""
        session = ProfileSession(name)
        memory = MemoryProfiler() if self.enable_memory else None
        recording = self._begin(name) if self.enable_trace or self.enable_flame_graph else None
        began = time.perf_counter_ns()
        try:
            if memory is None:
                with _scopes.scope(name):
                    yield session
            else:
                with memory.track(name):
                    yield session
        finally:
            session.total_time_ms = (time.perf_counter_ns() - began) / 1e6
            trace = recording.end() if recording is not None else None
            if memory is not None:
                _fill_memory(session, memory)
            if trace is not None:
                self._fill(session, trace)
            self.sessions.append(session)

    def profile_function(self, fn: Callable[..., Any], *args: Any, name: Optional[str] = None, warmup: int = 5,
                         iterations: int = 20, **kwargs: Any) -> ProfileSession:
        """Calls `fn` `warmup + iterations` times; the session has the latter alone."""
        if iterations < 1 or warmup < 0:
            raise ValueError("iterations must be at least 1, and warmup at least 0")
        called = name or str(getattr(fn, "__qualname__", repr(fn)))
        for _ in range(warmup):
            fn(*args, **kwargs)
        _synchronize()
        with self.profile(called) as session:
            for _ in range(iterations):
                fn(*args, **kwargs)
            _synchronize()
        session.iterations = iterations
        return session

    def compare_sessions(self, a: ProfileSession, b: ProfileSession) -> "dict[str, Any]":
        """`speedup` above 1: b is faster, per iteration. `memory_diff["peak_mb"]` above 0: b needs more."""
        def per_iteration(session: ProfileSession) -> Optional[float]:
            return None if session.total_time_ms is None else session.total_time_ms / session.iterations

        before, after = per_iteration(a), per_iteration(b)
        kernels = []
        theirs = {kernel.name: kernel for kernel in b.kernels}
        for kernel in a.kernels:
            other = theirs.get(kernel.name)
            kernels.append({"name": kernel.name, "before_us": kernel.cuda_time_us / a.iterations,
                            "after_us": other.cuda_time_us / b.iterations if other else None,
                            "speedup": kernel.mean_time_us / other.mean_time_us if other and other.mean_time_us else None})
        return {"speedup": before / after if before is not None and after else None,
                "memory_diff": {"peak_mb": _difference(a.peak_memory_mb, b.peak_memory_mb),
                                "allocated_mb": _difference(a.allocated_memory_mb, b.allocated_memory_mb)},
                "kernels": kernels}

    def _begin(self, name: str) -> "Any":
        os.makedirs(self.output_dir, exist_ok=True)
        stem = os.path.join(self.output_dir, re.sub(r"[^\w.-]+", "_", name) or "session")
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "profiler"):
            return TorchRecording(torch, _free_name(stem, ".json"), self.enable_memory)
        if get_profiler().is_recording:
            return None  # the program, or `fathom profile` does; a second recording would end that
        return _OwnRecording(_free_name(stem, ".pftrace"))

    def _fill(self, session: ProfileSession, trace: Trace) -> None:
        found = trace.session()
        session.cuda_time_ms = found["gpu_time_ms"]
        session.cpu_time_ms = found["cpu_time_ms"]
        for ours in ("peak_memory_mb", "allocated_memory_mb", "reserved_memory_mb"):
            if found[ours] is not None:
                setattr(session, ours, found[ours])
        session.kernels = [Kernel(each["name"], each["calls"], each["total_time_ms"] * 1e3, each["mean_time_ms"] * 1e3,
                                  each["global_size"], each["local_size"]) for each in found["kernels"]]
        session.bottlenecks = found["bottlenecks"]
        session.recommendations = found["recommendations"]
        if self.enable_flame_graph:
            session.flame_graph_data = dict(trace.flame())
        if self.enable_trace:
            session.trace_path = trace.source
        else:
            os.unlink(trace.source)

    def export_page(self, session: ProfileSession, path: Any) -> str:
        """Writes the page of a session's trace."""
        if session.trace_path is None:
            raise ValueError("this session has no trace")
        return write_text(read(session.trace_path).page(), path)


class _OwnRecording:
    """Fathom's own run file of the block."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._is_recording = get_profiler().start_recording(path)

    def end(self) -> Optional[Trace]:
        if not self._is_recording:
            return None
        get_profiler().stop_recording()
        return read(self._path)


def _fill_memory(session: ProfileSession, memory: MemoryProfiler) -> None:
    session.memory_timeline = memory.get_timeline()
    peak = memory.get_peak_analysis()
    session.peak_memory_mb = peak["peak_allocated_mb"]
    session.peak_host_memory_mb = peak["peak_rss_mb"]
    if session.memory_timeline:
        session.allocated_memory_mb = session.memory_timeline[-1]["allocated_mb"]
        reserved = [each["reserved_mb"] for each in session.memory_timeline if each["reserved_mb"] is not None]
        session.reserved_memory_mb = max(reserved) if reserved else None


def _synchronize() -> None:
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()


def _free_name(stem: str, ending: str) -> str:
    path = stem + ending
    number = 2
    while os.path.exists(path):
        path = f"{stem}-{number}{ending}"
        number += 1
    return path


def _difference(before: Optional[float], after: Optional[float]) -> Optional[float]:
    return None if before is None or after is None else after - before
