"""Traces of any format Fathom reads: columns without copying, and all that the commands say of them."""
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Optional, Union

from . import _native
from .report import Report, parse

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

Path = Union[str, "os.PathLike[str]"]


def _numpy() -> Any:
    """NumPy, or None where it is not installed. What other people's packages give has no types here."""
    try:
        return import_module("numpy")
    except ImportError:
        return None


def array(column: Any) -> Any:
    """A column as a NumPy array of the same memory, read-only; without NumPy as a memoryview."""
    numpy = _numpy()
    return memoryview(column) if numpy is None else numpy.asarray(column)


@dataclass(frozen=True)
class Track:
    """A thread, or a stream of a GPU. Its spans are those from `first_span` on, `span_count` of them."""

    label: str
    kind: str
    pid: int
    tid: int
    process_name: Optional[str]
    thread_name: Optional[str]
    device: Optional[int]
    stream: Optional[int]
    first_span: int
    span_count: int


@dataclass(frozen=True)
class Counter:
    """A figure over time."""

    name: str
    track: int
    time_ns: Any
    value: Any


class Columns:
    """Columns of equal length. Each is an array of the trace's own memory, which it keeps alive."""

    def __init__(self, trace: "Trace", columns: "dict[str, Any]") -> None:
        self._trace = trace
        self._columns = columns

    def __getattr__(self, name: str) -> Any:
        column = self._columns.get(name) if not name.startswith("_") else None
        if column is None:
            raise AttributeError(f"there is no column {name!r}; there are: {', '.join(self.columns)}")
        return array(column)

    def __dir__(self) -> "list[str]":
        return [*super().__dir__(), *self._columns]

    def __len__(self) -> int:
        for column in self._columns.values():
            return len(column)
        return 0

    @property
    def columns(self) -> "list[str]":
        """Their names."""
        return list(self._columns)

    def to_dict(self) -> "dict[str, Any]":
        """Name → array, as data frames of any kind take it."""
        return {name: array(column) for name, column in self._columns.items()}

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} of {self._trace.source}: {len(self):,} rows of {', '.join(self.columns)}>"


class Spans(Columns):
    """What happened, from when to when: sorted by track, then by start, the outer before the inner.

    `name_id` counts in `trace.names`, `kind` in `trace.kinds`, `track` in `trace.tracks`; `parent` is the row of the
    span around it and `correlation` the same number for a launch and its GPU work: -1 where there is none.

    >>> import fathom
    >>> trace = fathom.read("trace.json")
    >>> longest = max(range(len(trace.spans)), key=lambda row: trace.spans.duration_ns[row])
    >>> trace.spans.name[longest], int(trace.spans.duration_ns[longest])
    ('ProfilerStep#1', 1000000)
    """

    if TYPE_CHECKING:  # with NumPy; without it they are memoryviews
        name_id: NDArray[numpy.uint32]
        shape_id: NDArray[numpy.uint32]
        kind: NDArray[numpy.uint8]
        track: NDArray[numpy.uint32]
        start_ns: NDArray[numpy.int64]
        duration_ns: NDArray[numpy.int64]
        correlation: NDArray[numpy.int64]
        parent: NDArray[numpy.int32]

    @property
    def name(self) -> Any:
        """The names, one per row: an array of str objects (with NumPy), made anew."""
        names = self._trace.names
        numpy = _numpy()
        if numpy is None:
            return [names[each] for each in self.name_id]
        return numpy.array(names, dtype=object)[self.name_id]

    def where(self, kind: Optional[str] = None, name: Optional[str] = None) -> Any:
        """The rows of a kind, or of a name: an array of truth values."""
        mask: Any = None
        if kind is not None:
            if kind not in self._trace.kinds:
                raise ValueError(f"unknown kind {kind!r}; there are: {', '.join(self._trace.kinds)}")
            mask = self.kind == self._trace.kinds.index(kind)
        if name is not None:
            ids = self.name_id
            same = ids == self._trace.names.index(name) if name in self._trace.names else ids < 0
            mask = same if mask is None else mask & same
        if mask is None:
            raise ValueError("name a kind or a name")
        return mask

    def to_pandas(self) -> Any:
        """A pandas data frame: names and kinds are categories, all else is the trace's own memory."""
        pandas: Any = import_module("pandas")
        columns = self.to_dict()
        used = columns.pop("name_id")
        columns.pop("shape_id")
        frame = {"name": pandas.Categorical.from_codes(used, categories=self._trace.names),
                 "kind": pandas.Categorical.from_codes(columns.pop("kind"), categories=self._trace.kinds)}
        return pandas.DataFrame({**frame, **columns}, copy=False)

    def to_polars(self) -> Any:
        """A polars data frame, with names and kinds as text."""
        numpy, polars = _numpy(), import_module("polars")
        columns = self.to_dict()
        columns.pop("shape_id")
        names = polars.Series("name", self._trace.names)[columns.pop("name_id").astype(numpy.uint32)]
        kinds = polars.Series("kind", self._trace.kinds)[columns.pop("kind").astype(numpy.uint32)]
        return polars.DataFrame({"name": names, "kind": kinds, **columns})


class Instants(Columns):
    """What happened at a moment."""

    if TYPE_CHECKING:
        time_ns: NDArray[numpy.int64]
        name_id: NDArray[numpy.uint32]
        track: NDArray[numpy.uint32]


class MemoryEvents(Columns):
    """Allocations, and frees with negative bytes."""

    if TYPE_CHECKING:
        time_ns: NDArray[numpy.int64]
        bytes: NDArray[numpy.int64]
        site_id: NDArray[numpy.uint32]
        device_index: NDArray[numpy.int32]


class Trace:
    """A recording, whatever it came from. Times are nanoseconds on the clock of the source.

    >>> import fathom
    >>> trace = fathom.read("trace.json")
    >>> [track.kind for track in trace.tracks]
    ['thread', 'gpu_stream', 'gpu_stream']
    >>> round(trace.hta().gpu_idle_time_pct, 1)
    47.3
    >>> trace.suggest().suggestions[0].title
    'Launch sooner: the GPU runs out of work in places'
    """

    def __init__(self, native: Any, source: str) -> None:
        self._native = native
        self.source = source
        self.spans = Spans(self, native.span_columns())
        self.notes: "list[str]" = []
        """What was lost before it was read."""
        self._names: "Optional[list[str]]" = None

    @property
    def names(self) -> "list[str]":
        """All names, by their number."""
        if self._names is None:
            self._names = self._native.names()
        return self._names

    @property
    def kinds(self) -> "list[str]":
        """What a span can be, by its number."""
        return list(_native.kind_names())

    @property
    def tracks(self) -> "list[Track]":
        """Threads and streams, by their number."""
        return [Track(*each) for each in self._native.tracks()]

    @property
    def instants(self) -> Instants:
        """What happened at a moment."""
        return Instants(self, self._native.instant_columns())

    @property
    def memory_events(self) -> MemoryEvents:
        """Allocations and frees."""
        return MemoryEvents(self, self._native.memory_columns())

    @property
    def counters(self) -> "list[Counter]":
        """Figures over time."""
        return [Counter(name, track, array(time), array(value)) for name, track, time, value in self._native.counters()]

    @property
    def run(self) -> "dict[str, Any]":
        """What the source says of the run as a whole."""
        return dict(self._native.run())

    @property
    def warnings(self) -> "list[str]":
        """What could not be read of it, a line per kind of loss."""
        return [*self.notes, *self._native.warnings()]

    def args(self, span: int) -> "dict[str, Any]":
        """The arguments of a span, as its source has them."""
        text = self._native.args(int(span))
        return dict(json.loads(text)) if text else {}

    def report(self, top: int = 10) -> Report:
        """Where the time went, as `fathom report --json` has it; `top` rows in its text."""
        return parse(self._native.report(), text=lambda: str(self._native.report_text(top)), page=lambda: self.page())

    def session(self) -> Report:
        """The run as a session, as `fathom profile --json` has it."""
        return parse(self._native.session())

    def hta(self, all_steps: bool = False, top: int = 10) -> Report:
        """The holistic analysis of one rank, as `fathom hta --json` has it."""
        return parse(self._native.hta(all_steps, top, False), text=lambda: str(self._native.hta(all_steps, top, True)),
                     page=lambda: self.page("hta"))

    def flame(self, weight: str = "cpu", min_duration_us: float = 10.0, max_depth: int = 0,
              group_small_kernels: bool = False) -> Report:
        """Call paths down to kernels, as `fathom flame --json` has them."""
        def as_form(form: str) -> str:
            return str(self._native.flame(_native.FlameChoice(form, weight, min_duration_us, max_depth, group_small_kernels)))

        return parse(as_form("json"), text=lambda: as_form("text"), page=lambda: as_form("page"))

    def folded(self, weight: str = "cpu", min_duration_us: float = 10.0) -> str:
        """Call paths, one per line, as flamegraph.pl reads them."""
        return str(self._native.flame(_native.FlameChoice("folded", weight, min_duration_us, 0, False)))

    def timeline(self, top: int = 20) -> Report:
        """How long host and GPU were active, as `fathom timeline --json` has it."""
        return parse(self._native.timeline(top, False), text=lambda: str(self._native.timeline(top, True)),
                     page=lambda: self.page("timeline"))

    def memory(self, top: int = 10) -> Report:
        """Memory over time, its peak and its leaks, as `fathom memory --json` has it."""
        return parse(self._native.memory(top, False), text=lambda: str(self._native.memory(top, True)),
                     page=lambda: self.page("memory"))

    def suggest(self, all: bool = False, critical: bool = False, top: int = 0, compile: Optional[Path] = None) -> Report:
        """What to change and what it would save, as `fathom suggest --json` has it; 0 is no limit.

        `compile` are logs of torch.compile of the same program: a file or a folder.
        """
        most, logs = top or sys.maxsize, "" if compile is None else os.fspath(compile)
        return parse(self._native.suggest(all, critical, most, False, logs),
                     text=lambda: str(self._native.suggest(all, critical, most, True, logs)),
                     page=lambda: self.page("suggestions"))

    def page(self, start: str = "") -> str:
        """The page with all of it: one HTML file. `start` is the tab that it opens on."""
        return str(self._native.page(start))

    def write(self, path: Path) -> None:
        """Writes it as the name asks for: .json[.gz|.zst], .pftrace or .profile.json."""
        self._native.write(os.fspath(path))

    def _write_drawn(self, path: Path, min_duration_us: float, with_python: bool) -> str:
        self._native.write_drawn(os.fspath(path), min_duration_us, with_python)
        return os.fspath(path)

    def _drawn_page(self, min_duration_us: float, with_python: bool) -> str:
        return str(self._native.drawn_page(min_duration_us, with_python))

    def __repr__(self) -> str:
        return f"<trace {self.source}: {len(self.spans):,} spans on {len(self._native.tracks())} tracks>"

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()


def read(path: Path) -> Trace:
    """Reads a trace of any format; its content tells which.

    What is damaged is read as far as it goes, and `warnings` says what was lost.

    >>> import fathom
    >>> trace = fathom.read("trace.json")
    >>> len(trace.spans), trace.warnings
    (52, [])
    """
    name = os.fspath(path)
    return Trace(_native.read(None, name), name)


def read_bytes(data: bytes, source: str = "memory") -> Trace:
    """Reads a trace that is in memory."""
    descriptor = os.memfd_create("fathom")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(data)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return Trace(_native.read(descriptor, source), source)
    finally:
        os.close(descriptor)


def opened(trace: Any) -> Trace:
    """A Trace of a Trace, a file, a loaded profile JSON or a live profiler of PyTorch."""
    if isinstance(trace, Trace):
        return trace
    if isinstance(trace, (str, os.PathLike)):
        return read(trace)
    if isinstance(trace, dict):
        return read_bytes(json.dumps(trace).encode(), "data")
    if hasattr(trace, "export_chrome_trace"):
        return from_profiler(trace)
    raise TypeError(f"a trace is a file, a fathom.Trace, a loaded profile or a torch.profiler.profile, not {type(trace).__name__}")


def from_profiler(profiler: Any) -> Trace:
    """The trace of a `torch.profiler.profile` that has stopped, with the scopes that began meanwhile.

    The profiler keeps 100,000 scopes unless told otherwise; `warnings` says where that were not all.
    """
    if not hasattr(profiler, "export_chrome_trace"):
        raise TypeError(f"from_profiler takes a torch.profiler.profile, not {type(profiler).__name__}")
    from . import torch_trace

    with tempfile.TemporaryDirectory(prefix="fathom-") as folder:
        path = os.path.join(folder, "trace.json")
        scopes, notes = torch_trace.kept_scopes()
        notes += torch_trace.export(profiler, path, scopes)
        with open(path, "rb") as file:
            # The file is mapped where arguments are read from it later, so it may go.
            trace = Trace(_native.read(file.fileno(), "torch.profiler"), "torch.profiler")
    trace.notes += notes
    return trace


def hta(traces: "Union[Path, Trace, Iterable[Union[Path, Trace]]]", all_steps: bool = False, top: int = 10) -> Report:
    """The holistic analysis of the ranks of a job: traces, or a folder with one per rank.

    >>> import fathom
    >>> round(fathom.hta(["trace.json"]).compute_time_pct, 1)
    38.5
    """
    ranks = [opened(each)._native for each in _ranks(traces)]

    def as_form(form: str) -> str:
        return str(_native.hta(ranks, all_steps, top, form))

    return parse(as_form("json"), text=lambda: as_form("text"), page=lambda: as_form("page"))


def compile_logs(path: Path, top: int = 10) -> Report:
    """What torch.compile did, of its logs (TORCH_TRACE): a file, or a folder with one per process. As
    `fathom compile --json` has it; `top` rows in each table of its text.

    >>> import fathom
    >>> logs = fathom.compile_logs("torch_trace.log")
    >>> logs.time_ms, logs.break_reasons[0].where
    (3000, 'at model.py:31')
    """
    name = os.fspath(path)
    return parse(_native.compile_logs(name, top, "json"), text=lambda: str(_native.compile_logs(name, top, "text")),
                 page=lambda: str(_native.compile_logs(name, top, "page")))


_ENDINGS = (".json", ".gz", ".zst", ".pftrace", ".perfetto-trace", ".pb", ".sqlite", ".ndjson")


def _ranks(traces: Any) -> "Iterator[Any]":
    if isinstance(traces, (str, os.PathLike)):
        path = os.fspath(traces)
        if not os.path.isdir(path):
            yield path
            return
        yield from sorted(os.path.join(path, name) for name in os.listdir(path) if name.endswith(_ENDINGS))
    elif isinstance(traces, Trace):
        yield traces
    else:
        yield from traces


__all__ = ["Columns", "Counter", "Instants", "MemoryEvents", "Spans", "Trace", "Track", "compile_logs",
           "from_profiler", "hta", "read",
           "read_bytes"]
