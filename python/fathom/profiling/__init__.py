"""The profiling suite: sessions, memory, flame graphs, timelines and holistic analysis.

>>> from fathom.profiling import MemoryProfiler
>>> memory = MemoryProfiler(sample_interval_ms=1.0)
>>> with memory.track("load"):
...     data = bytearray(10_000_000)
>>> sorted(memory.get_peak_analysis())[:2]
['alive', 'peak_allocated_mb']
"""
from ..torch_compile import CompileResult, GraphBreak, TorchCompileAnalyzer
from .flame import FlameGraphGenerator
from .hta import HTAAnalyzer, HTAReport
from .memory import MemoryProfiler
from .timeline import Timeline, TimelineGenerator
from .unified import Kernel, ProfileSession, UnifiedProfiler

__all__ = ["CompileResult", "FlameGraphGenerator", "GraphBreak", "HTAAnalyzer", "HTAReport", "Kernel", "MemoryProfiler",
           "ProfileSession", "Timeline", "TimelineGenerator", "TorchCompileAnalyzer", "UnifiedProfiler"]
