"""The profiler: scopes, their figures, and what takes the time."""
import os
import sys
from dataclasses import dataclass, field
from typing import Any, Callable, ContextManager, Optional, Union, overload

from . import _native, _scopes
from .decorators import F, profile_function, wrap


@dataclass(frozen=True)
class ProfileEntry:
    """One scope. Times of day are seconds since 1970; what was not measured is None."""

    operation: str
    start_time: float
    end_time: float
    duration_ms: float
    device: str = "cpu"
    backend: str = "cpu"
    gpu_time_ms: Optional[float] = None
    cpu_time_ms: Optional[float] = None
    transfer_time_ms: Optional[float] = None
    overhead_ms: Optional[float] = None
    memory_allocated_mb: Optional[float] = None
    memory_peak_mb: Optional[float] = None
    gpu_utilization: Optional[float] = None
    memory_bandwidth_gb_s: Optional[float] = None
    attributes: dict[str, Any] = field(default_factory=dict)
    thread: int = 0
    parent: Optional[int] = None
    """The place among the entries of the scope around it."""
    failed: bool = False
    """It ended by an exception."""


@dataclass(frozen=True)
class ProfileSummary:
    """All calls of one operation. What was not measured is None."""

    operation: str
    call_count: int
    total_time_ms: Optional[float]
    avg_time_ms: Optional[float]
    min_time_ms: Optional[float]
    max_time_ms: Optional[float]
    std_dev_ms: Optional[float]
    total_gpu_time_ms: Optional[float] = None
    total_cpu_time_ms: Optional[float] = None
    avg_memory_mb: Optional[float] = None
    avg_gpu_utilization: Optional[float] = None
    p50_ms: Optional[float] = None
    p95_ms: Optional[float] = None
    p99_ms: Optional[float] = None
    self_time_ms: Optional[float] = None
    total_transfer_time_ms: Optional[float] = None
    total_overhead_ms: Optional[float] = None
    peak_memory_mb: Optional[float] = None
    error_count: Optional[int] = None


@dataclass(frozen=True)
class Bottleneck:
    """An operation by its own time, without that of the scopes inside."""

    operation: str
    call_count: int
    self_time_ms: float
    share: float
    """Of all own time, 0 to 1."""
    cumulative_share: float
    dominated_by: Optional[str]
    """"gpu", "cpu", "transfer" or "overhead"."""


class GPUProfiler:
    """Measures scopes on any number of threads.

    >>> import fathom
    >>> p = fathom.GPUProfiler()
    >>> with p.profile("multiply", size=1024):
    ...     pass
    >>> p.get_summary()["multiply"].call_count
    1
    >>> p.entries[0].attributes["size"]
    1024
    """

    def __init__(self, enabled: bool = True, device_id: Optional[int] = 0, *, sample_rate: float = 1.0,
                 max_entries: int = 100_000) -> None:
        if not 0 <= sample_rate <= 1:
            raise ValueError(f"sample_rate must be between 0 and 1, not {sample_rate}")
        self._set_up(_native.Profiler(enabled, device_id, sample_rate, max_entries))
        self.device_id: Optional[int] = device_id

    def _set_up(self, native: Any) -> None:
        self._native = native
        self._is_recording = False
        self._capsule = native.capsule()

    def profile(self, operation: str, device: str = "cpu", backend: Optional[str] = None, **attributes: Any) -> ContextManager[object]:
        """A context manager that measures what is inside."""
        return _scopes.profile(self._capsule, operation, device, backend, attributes)

    @overload
    def profile_function(self, operation: F, device: str = "cpu") -> F: ...
    @overload
    def profile_function(self, operation: Optional[str] = None, device: str = "cpu") -> Callable[[F], F]: ...
    def profile_function(self, operation: Any = None, device: str = "cpu") -> Any:
        """A decorator: the function is profiled each time it is called."""
        if self is _GLOBAL:
            return profile_function(operation, device)
        if callable(operation):
            return wrap(operation, None, device, self._begin)
        return lambda function: wrap(function, operation, device, self._begin)

    def _begin(self, name: str, device: str) -> ContextManager[object]:
        return self.profile(name, device)

    @property
    def enabled(self) -> bool:
        """Whether scopes are measured; may be set."""
        return bool(self._native.enabled())

    @enabled.setter
    def enabled(self, on: bool) -> None:
        self._native.enable(bool(on))

    def enable(self) -> None:
        """Measures from now on."""
        self._native.enable(True)

    def disable(self) -> None:
        """Scopes that begin from now on are not measured."""
        self._native.enable(False)

    def reset(self) -> None:
        """Forgets all that was measured."""
        self._native.reset()

    @property
    def entries(self) -> list[ProfileEntry]:
        """The scopes that have ended, by start; `max_entries` at most, and `drops` counts the others."""
        return [ProfileEntry(*each) for each in self._native.entries()]

    @property
    def drops(self) -> dict[str, int]:
        """What could not be kept; the summary is exact all the same."""
        return dict(self._native.drops())

    def get_summary(self) -> dict[str, ProfileSummary]:
        """The figures of all calls, by operation."""
        return {name: ProfileSummary(*each) for name, each in self._native.summary().items()}

    def get_bottlenecks(self, top_n: int = 5) -> list[Bottleneck]:
        """The operations with the most time of their own."""
        return [Bottleneck(*each) for each in self._native.bottlenecks(top_n)]

    def print_summary(self) -> None:
        """Prints the summary as a table."""
        sys.stdout.write(self._native.summary_text())

    def print_bottlenecks(self, top_n: int = 5) -> None:
        """Prints the bottlenecks as a table."""
        sys.stdout.write(self._native.bottlenecks_text(top_n))

    def export_json(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a profile, which `fathom report`, `compare` and `suggest` read."""
        self._native.export_json(os.fspath(path))

    def start_recording(self, path: Union[str, "os.PathLike[str]"]) -> bool:
        """Writes all scopes from now on to a run file, which Fathom and ui.perfetto.dev open."""
        self._is_recording = bool(self._native.start_recording(os.fspath(path)))
        return self._is_recording

    def stop_recording(self) -> None:
        """Completes the run file."""
        self._native.stop_recording()
        self._is_recording = False

    @property
    def is_recording(self) -> bool:
        """Whether scopes go to a run file, which `fathom profile` has them do from the beginning."""
        return self._is_recording

    def _repr_html_(self) -> str:
        from .html import table

        return table([vars(each) for each in self.get_summary().values()],
                     ["operation", "call_count", "total_time_ms", "avg_time_ms", "min_time_ms", "max_time_ms"])


def _make_global() -> GPUProfiler:
    made = GPUProfiler.__new__(GPUProfiler)
    made._set_up(_native.global_profiler())
    made.device_id = None
    made._is_recording = bool(os.environ.get("FATHOM_RUN_FILE"))
    return made


_GLOBAL = _make_global()


def get_profiler(enabled: Optional[bool] = None) -> GPUProfiler:
    """The profiler that `fathom.scope` measures with: always the same object.

    `enabled` turns it on or off; without it, it stays as it is.
    """
    if enabled is not None:
        _GLOBAL.enabled = enabled
    return _GLOBAL


def record_opencl() -> bool:
    """Records the OpenCL work of this program: kernels and copies belong to the scopes that made them, and `gpu_time_ms`
    of entries, summaries and sessions is filled.

    To be called before the program's first OpenCL call, which reads the loader's settings, once and for all. False, with
    the reason on standard error, where Fathom's OpenCL layer is not installed.
    """
    return bool(_native.record_opencl())


def is_cuda_available() -> bool:
    """Whether a CUDA GPU can be used here: PyTorch is asked where it is loaded, else the driver."""
    torch = sys.modules.get("torch")
    if torch is not None:
        return bool(torch.cuda.is_available())
    import ctypes

    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
