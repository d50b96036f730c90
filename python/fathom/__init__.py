"""Fathom in Python: scopes at the speed of C, and every analysis of the program `fathom`.

>>> import fathom
>>> with fathom.scope("load"):
...     numbers = list(range(1000))
>>> fathom.get_profiler().get_summary()["load"].call_count
1

What is not measured costs next to nothing, and nothing is imported that is not asked for: neither
NumPy nor PyTorch, which are used where a program has them.
"""
from typing import TYPE_CHECKING, Any

from ._scopes import pop, push, scope
from ._scopes import version as __version__
from .decorators import profile_function
from .errors import Error

# Where the rest is: loaded when it is first asked for.
_HOMES = {
    "Bottleneck": "profiler", "GPUProfiler": "profiler", "ProfileEntry": "profiler", "ProfileSummary": "profiler",
    "get_profiler": "profiler", "is_cuda_available": "profiler", "record_opencl": "profiler",
    "Spans": "trace", "Trace": "trace", "compile_logs": "trace", "from_profiler": "trace", "hta": "trace", "read": "trace",
    "Report": "report",
    "ComparisonSummary": "comparison", "OperationComparison": "comparison", "RunComparison": "comparison",
    "compare_profiling_runs": "comparison",
    "OptimizationSuggestion": "optimizer", "ProfilerOptimizer": "optimizer",
    "CompileResult": "torch_compile", "GraphBreak": "torch_compile", "TorchCompileAnalyzer": "torch_compile",
}
_MODULES = {"monitor", "profiling", "runtime"}

__all__ = [
    "Bottleneck", "ComparisonSummary", "CompileResult", "Error", "GPUProfiler", "GraphBreak", "OperationComparison",
    "OptimizationSuggestion", "ProfileEntry", "ProfileSummary", "ProfilerOptimizer", "Report", "RunComparison", "Spans",
    "TorchCompileAnalyzer", "Trace", "__version__", "compare_profiling_runs", "compile_logs", "from_profiler", "get_profiler", "hta",
    "is_cuda_available", "monitor", "pop", "profile_function", "profiling", "push", "read", "record_opencl", "runtime",
    "scope",
]

if TYPE_CHECKING:
    from . import monitor, profiling, runtime
    from .comparison import ComparisonSummary, OperationComparison, RunComparison, compare_profiling_runs
    from .optimizer import OptimizationSuggestion, ProfilerOptimizer
    from .profiler import Bottleneck, GPUProfiler, ProfileEntry, ProfileSummary, get_profiler, is_cuda_available, record_opencl
    from .report import Report
    from .torch_compile import CompileResult, GraphBreak, TorchCompileAnalyzer
    from .trace import Spans, Trace, compile_logs, from_profiler, hta, read


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'fathom' has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
