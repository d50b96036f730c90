"""What to change, and what it would save."""
import os
import sys
from dataclasses import dataclass
from typing import Any, Optional, Union

from .html import table
from .report import Report
from .trace import Trace, opened


@dataclass(frozen=True)
class OptimizationSuggestion:
    """A change. None is what cannot be said; times are of the run."""

    operation: str
    suggestion_type: str
    """routing, batching, memory, caching, algorithm or parallelization."""
    priority: str
    """critical, high, medium or low."""
    description: str
    expected_improvement: str
    implementation_hint: str
    current_time_ms: Optional[float]
    estimated_time_ms: Optional[float]
    potential_speedup: Optional[float]
    title: str = ""
    rule: str = ""


class ProfilerOptimizer:
    """Suggestions for a profile: a loaded profile JSON, a file of any format, or a trace.

    `compile` are logs of torch.compile of the same program, a file or a folder: what they suggest comes behind.

    >>> import fathom
    >>> calls = [{"operation": "tiny", "start_time": i * 5e-5, "end_time": (i + 1) * 5e-5, "duration_ms": 0.05, "device": "cpu"}
    ...          for i in range(500)]
    >>> o = fathom.ProfilerOptimizer({"entries": calls, "summary": {}})
    >>> [each.operation for each in o.get_suggestions(top_n=1)]
    ['tiny']
    """

    def __init__(self, data_or_path: "Union[str, os.PathLike[str], dict[str, Any], Trace]", *,
                 compile: "Union[str, os.PathLike[str], None]" = None) -> None:
        self._trace = opened(data_or_path)
        self._compile = compile
        self._found: Optional[Report] = None

    @property
    def report(self) -> Report:
        """All of it, as `fathom suggest --all --json` has it."""
        if self._found is None:
            self._found = self._trace.suggest(all=True, compile=self._compile)
        return self._found

    def get_suggestions(self, top_n: int = 10) -> "list[OptimizationSuggestion]":
        """The most valuable first."""
        return [_suggestion(each) for each in self.report["suggestions"][:top_n]]

    def get_critical_suggestions(self) -> "list[OptimizationSuggestion]":
        """Those that would save 20 % of the run or more."""
        return [each for each in self.get_suggestions(sys.maxsize) if each.priority == "critical"]

    def print_suggestions(self, top_n: int = 10) -> None:
        """Prints what `fathom suggest --all` prints."""
        sys.stdout.write(str(self._trace.suggest(all=True, top=top_n, compile=self._compile)))

    def print_critical_suggestions(self) -> None:
        """Prints what `fathom suggest --critical` prints."""
        sys.stdout.write(str(self._trace.suggest(critical=True, compile=self._compile)))

    def export_suggestions(self, path: "Union[str, os.PathLike[str]]") -> None:
        """Writes what `fathom suggest --all --json` writes."""
        from .files import write_json

        write_json(self.report, path)

    def _repr_html_(self) -> str:
        return table([vars(each) for each in self.get_suggestions()],
                     ["priority", "title", "operation", "expected_improvement", "current_time_ms", "estimated_time_ms"])


def _suggestion(found: "dict[str, Any]") -> OptimizationSuggestion:
    return OptimizationSuggestion(
        operation=found["operation"], suggestion_type=found["type"], priority=found["priority"],
        description=found["description"], expected_improvement=found["expected_improvement"],
        implementation_hint=found["implementation_hint"], current_time_ms=found["current_time_ms"],
        estimated_time_ms=found["estimated_time_ms"], potential_speedup=found["potential_speedup"],
        title=found["title"], rule=found["rule"])
