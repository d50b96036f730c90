"""Flame graphs: call paths down to the kernels they launched."""
from typing import Any

from ..report import Report
from ..trace import opened
from .export import export


class FlameGraphGenerator:
    """Makes flame graphs of traces; paths shorter than `min_duration_us` in total belong to their parent.

    >>> from fathom.profiling import FlameGraphGenerator
    >>> generator = FlameGraphGenerator()
    >>> data = generator.from_chrome_trace("trace.json")
    >>> data.root.name
    'all'
    >>> generator.export(data, "flame.html")
    'flame.html'
    """

    def __init__(self, min_duration_us: float = 10.0, max_depth: int = 50, group_small_kernels: bool = True) -> None:
        self.min_duration_us = min_duration_us
        self.max_depth = max_depth
        self.group_small_kernels = group_small_kernels

    def from_profiler(self, prof: Any, weight: str = "cpu") -> Report:
        """Of a torch.profiler.profile that has stopped."""
        return self.from_chrome_trace(prof, weight)

    def from_chrome_trace(self, path: Any, weight: str = "cpu") -> Report:
        """Of a trace of any format: nested `name, value, self, cpu_ns, gpu_ns, children`."""
        return opened(path).flame(weight, self.min_duration_us, self.max_depth, self.group_small_kernels)

    def export(self, data: Report, path: Any, format: str = "html") -> str:
        """Writes the page, or the tree as JSON."""
        return export(data, path, format)
