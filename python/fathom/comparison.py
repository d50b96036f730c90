"""Did it get slower? Runs compared, each operation with a verdict."""
import os
import sys
from dataclasses import dataclass, replace
from typing import Any, Iterable, Optional, Union

from . import _native
from .html import table

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class OperationComparison:
    """One operation, before and now. Times are of a call; None is what only one side has."""

    operation: str
    baseline_time_ms: Optional[float]
    current_time_ms: Optional[float]
    change_ms: Optional[float]
    change_percent: Optional[float]
    change_type: str
    """IMPROVEMENT, REGRESSION, NO_CHANGE, NEW, REMOVED, INCONCLUSIVE or UNSTABLE."""
    is_significant: bool
    change_percent_low: Optional[float]
    change_percent_high: Optional[float]
    is_suspect: bool
    """Strong evidence, from one run per side."""
    baseline_calls: float
    current_calls: float
    memory_change_mb: Optional[float]


@dataclass(frozen=True)
class ComparisonSummary:
    """All operations and the whole together."""

    regressions_count: int
    improvements_count: int
    no_change_count: int
    new_count: int
    removed_count: int
    overall_change_percent: Optional[float]
    inconclusive_count: int
    unstable_count: int
    suspects_count: int
    outcome: str
    matched_percent: float
    text: str
    memory_change_mb: Optional[float] = None
    """Of all operations whose memory both sides know."""


class RunComparison:
    """What `compare_profiling_runs` gives."""

    def __init__(self, native: Any) -> None:
        self._native = native

    @property
    def operations(self) -> "list[OperationComparison]":
        """The largest change of self time first."""
        return [OperationComparison(*each) for each in self._native.operations()]

    def get_summary(self) -> ComparisonSummary:
        """How many got slower and faster, and by how much the whole changed."""
        changes = [each.memory_change_mb for each in self.operations if each.memory_change_mb is not None]
        counts = ComparisonSummary(*self._native.summary())
        return replace(counts, memory_change_mb=sum(changes) if changes else None)

    def get_regressions(self, top_n: int = 5) -> "list[OperationComparison]":
        """What got slower: what is proven, then what is suspect."""
        return [OperationComparison(*each) for each in self._native.regressions(top_n)]

    def get_improvements(self, top_n: int = 5) -> "list[OperationComparison]":
        """What got faster."""
        return [OperationComparison(*each) for each in self._native.improvements(top_n)]

    def print_summary(self) -> None:
        """Prints what `fathom compare` prints."""
        sys.stdout.write(self._native.text())

    def print_regressions(self, top_n: int = 5) -> None:
        """Prints what got slower."""
        sys.stdout.write(self._native.regressions_text(top_n))

    def print_improvements(self, top_n: int = 5) -> None:
        """Prints what got faster."""
        sys.stdout.write(self._native.improvements_text(top_n))

    def export_json(self, path: Path) -> None:
        """Writes what `fathom compare --json` writes."""
        self._native.export_json(os.fspath(path))

    def __str__(self) -> str:
        return str(self._native.text())

    def _repr_html_(self) -> str:
        rows = [vars(each) for each in self.operations]
        return table(rows, ["operation", "baseline_time_ms", "current_time_ms", "change_percent", "change_type"])


def compare_profiling_runs(baseline_path: "Union[Path, Iterable[Path]]", current_path: "Union[Path, Iterable[Path]]",
                           significance_threshold: float = 5.0) -> RunComparison:
    """Compares runs: a file or several per side, of any format. Changes of `significance_threshold` percent count.

    One run per side can make a change suspect; several prove it.

    >>> import fathom
    >>> comparison = fathom.compare_profiling_runs("profile.json", "profile.json")
    >>> comparison.get_summary().regressions_count, comparison.get_regressions()
    (0, [])
    """
    return RunComparison(_native.compare(_files(baseline_path), _files(current_path), float(significance_threshold)))


def _files(paths: Any) -> "list[str]":
    if isinstance(paths, (str, os.PathLike)):
        return [os.fspath(paths)]
    return [os.fspath(each) for each in paths]
