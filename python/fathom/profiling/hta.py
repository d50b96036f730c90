"""Holistic analysis of a training job: idle time, communication, kernels."""
import os
from typing import Any

from ..report import Report, wrapped
from ..trace import hta, opened
from .export import export


class HTAReport(Report):
    """What `fathom hta --json` says; `top_kernels` have `time_us`, too."""

    @property
    def top_kernels(self) -> Any:
        """Kernels by time, each with `name` and `time_us`."""
        return wrapped([{**each, "time_us": each["sum_ns"] / 1e3} for each in self["top_kernels"]])


class HTAAnalyzer:
    """Analyzes traces; reports with plain names are written to `output_dir`.

    >>> from fathom.profiling import HTAAnalyzer
    >>> analyzer = HTAAnalyzer("out")
    >>> report = analyzer.analyze_trace("trace.json")
    >>> report.top_kernels[0].name
    'gemm'
    >>> analyzer.export_report(report, "hta.json", format="json")
    'out/hta.json'
    """

    def __init__(self, output_dir: Any = ".") -> None:
        self.output_dir = os.fspath(output_dir)

    def analyze_trace(self, path: Any) -> HTAReport:
        """Of one trace, or of the ranks in a folder: `gpu_idle_time_pct, compute_time_pct, communication_time_pct,
        top_kernels, recommendations, bottlenecks` and all that the command has."""
        is_folder = isinstance(path, (str, os.PathLike)) and os.path.isdir(path)
        found = hta(path) if is_folder else hta([opened(path)])
        return HTAReport(found, object.__getattribute__(found, "_text"), object.__getattribute__(found, "_page"))

    def export_report(self, r: Report, path: Any, format: str = "html") -> str:
        """Writes the page, or the fields as JSON."""
        name = os.fspath(path)
        if not os.path.dirname(name):
            os.makedirs(self.output_dir, exist_ok=True)
            name = os.path.join(self.output_dir, name)
        return export(r, name, format)
