"""Host threads and GPU streams side by side, and their overlap."""
from dataclasses import dataclass, field
from typing import Any, Optional

from ..files import write_text
from ..report import Report
from ..trace import Trace, opened


@dataclass(frozen=True)
class Timeline:
    """How long host and GPU were active; None of a GPU that the trace has nothing of. The figures are those of the whole
    trace, whatever is left out of what is drawn."""

    total_time_us: float
    cpu_active_time_us: float
    gpu_active_time_us: Optional[float]
    overlap_time_us: Optional[float]
    report: Report = field(repr=False)
    trace: Trace = field(repr=False)

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


class TimelineGenerator:
    """Makes timelines of traces. Spans shorter than `min_duration_us` are not drawn.

    >>> from fathom.profiling import TimelineGenerator
    >>> generator = TimelineGenerator()
    >>> timeline = generator.from_chrome_trace("trace.json")
    >>> timeline.total_time_us
    2300.0
    >>> generator.export_chrome_trace(timeline, "drawn.json")
    'drawn.json'
    """

    def __init__(self, min_duration_us: float = 1.0, include_python_events: bool = True) -> None:
        self.min_duration_us = min_duration_us
        self.include_python_events = include_python_events

    def from_profiler(self, prof: Any) -> Timeline:
        """Of a torch.profiler.profile that has stopped."""
        return self.from_chrome_trace(prof)

    def from_chrome_trace(self, path: Any) -> Timeline:
        """Of a trace of any format."""
        trace = opened(path)
        found = trace.timeline()
        total, cpu, gpu, overlap = (found[name] / 1e3 if found[name] is not None else None for name in (
            "total_time_ns", "cpu_active_time_ns", "gpu_active_time_ns", "overlap_time_ns"))
        return Timeline(total or 0.0, cpu or 0.0, gpu, overlap, found, trace)

    def export_chrome_trace(self, t: Timeline, path: Any) -> str:
        """Writes what is drawn as Chrome JSON, for chrome://tracing and Perfetto."""
        return t.trace._write_drawn(path, self.min_duration_us, self.include_python_events)

    def generate_html_viewer(self, t: Timeline, path: Any) -> str:
        """Writes the page: one HTML file."""
        return write_text(t.trace._drawn_page(self.min_duration_us, self.include_python_events), path)
