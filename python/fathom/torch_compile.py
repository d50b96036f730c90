"""What torch.compile brings to a model, and what stands in its way.

    >>> from fathom import TorchCompileAnalyzer                                                # doctest: +SKIP
    >>> result = TorchCompileAnalyzer(mode="reduce-overhead").analyze(model, batch)            # doctest: +SKIP
    >>> print(result.verdict, result.speedup, result.total_graph_breaks)                       # doctest: +SKIP
    faster 1.62 1

Eager and compiled calls are measured in turn, so that both see the same machine, and judged by what `fathom compare` judges
runs by. What torch logged (TORCH_TRACE) goes to a private folder and is read by `fathom compile`. PyTorch 2.2 or later; without
its logs (before 2.3) what is known from them is None.
"""
from __future__ import annotations

import importlib
import json
import logging
import os
import pathlib
import re
import shutil
import statistics
import tempfile
import time
import weakref
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence

from .comparison import compare_profiling_runs
from .errors import Error, InputError
from .files import write_text
from .trace import compile_logs

__all__ = ["CompileResult", "GraphBreak", "TorchCompileAnalyzer"]

MODES = ("default", "reduce-overhead", "max-autotune")
BLOCKS = 5  # groups of calls that stand for runs: their differences show how much the machine varies
OPERATION = "model"


@dataclass
class GraphBreak:
    """A place where the compiled graph was left for Python."""

    reason: str
    suggestion: Optional[str]
    where: Optional[str]
    count: int


@dataclass
class CompileResult:
    """What `TorchCompileAnalyzer.analyze` found. What torch does not log, and what could not be run, is None."""

    backend: str
    mode: str
    error: Optional[str] = None  # of a mode that could not be compiled
    eager_time_ms: Optional[float] = None  # of a call, the median
    compiled_time_ms: Optional[float] = None
    speedup: Optional[float] = None
    verdict: Optional[str] = None  # "faster", "slower", "same", "inconclusive" or "unstable", as `fathom compare` judges
    change_percent: Optional[float] = None  # of the time of a call, with its 95 % interval
    change_percent_low: Optional[float] = None
    change_percent_high: Optional[float] = None
    first_call_ms: Optional[float] = None  # which compiles
    compile_time_ms: Optional[float] = None  # as torch logs it
    total_graph_breaks: Optional[int] = None
    graph_breaks: List[GraphBreak] = field(default_factory=list)
    recompiles: Optional[int] = None
    failures: Optional[int] = None
    ops_before_fusion: Optional[int] = None
    ops_after_fusion: Optional[int] = None
    fusion_ratio: Optional[float] = None
    recommendations: List[str] = field(default_factory=list)
    logs: Optional[Dict[str, Any]] = None  # all of `fathom compile --json`
    _folder: str = field(default="", repr=False, compare=False)  # of the logs; gone with the result

    def as_dict(self) -> Dict[str, Any]:
        plain = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        plain["graph_breaks"] = [vars(one) for one in self.graph_breaks]
        return plain


class TorchCompileAnalyzer:
    """Measures a model eager and compiled, and reads what torch.compile logged of it."""

    def __init__(self, backend: str = "inductor", mode: str = "default") -> None:
        self.backend = backend
        self.mode = mode

    def analyze(self, model: Callable[..., Any], input: Any, warmup: int = 3, iterations: int = 10) -> CompileResult:
        """`input` is the argument of the model, a tuple of its arguments, or a dict of its named ones."""
        return self._analyze(self.mode, model, input, warmup, iterations)

    def compare_modes(self, model: Callable[..., Any], input: Any, modes: Sequence[str] = MODES, warmup: int = 3,
                      iterations: int = 10) -> Dict[str, CompileResult]:
        """Each mode beside eager. One that cannot be compiled has its `error`, and the others go on."""
        results: Dict[str, CompileResult] = {}
        _torch()
        for mode in modes:
            try:
                results[mode] = self._analyze(mode, model, input, warmup, iterations)
            except Exception as error:  # whatever a backend raises
                results[mode] = CompileResult(self.backend, mode, error=f"{type(error).__name__}: {error}".splitlines()[0])
        return results

    def export_report(self, result: CompileResult, path: str, format: Optional[str] = None) -> None:
        """Writes all figures as JSON, or the page of `fathom compile` as HTML; the ending of the name decides."""
        kind = format or ("html" if str(path).endswith((".html", ".htm")) else "json")
        if kind == "json":
            pathlib.Path(path).write_text(json.dumps(result.as_dict(), indent=2) + "\n", encoding="utf-8")
        elif kind != "html":
            raise InputError(f"format {kind!r}: html or json")
        elif result.logs is None:
            raise InputError("there are no logs of torch.compile to show: torch wrote none. JSON has the figures")
        else:
            write_text(compile_logs(result._folder).to_html(), path)

    def _analyze(self, mode: str, model: Callable[..., Any], input: Any, warmup: int, iterations: int) -> CompileResult:
        if warmup < 0 or iterations < 1:
            raise InputError("warmup is at least 0 and iterations at least 1")
        torch = _torch()
        call = _call_with(torch, input)
        result = CompileResult(self.backend, mode)
        result._folder = tempfile.mkdtemp(prefix="fathom-compile-")
        weakref.finalize(result, shutil.rmtree, result._folder, ignore_errors=True)
        torch._dynamo.reset()
        compiled = torch.compile(model, backend=self.backend, **({} if mode == "default" else {"mode": mode}))
        for _ in range(max(1, warmup)):
            call(model)
        with _torch_trace(torch, result._folder):
            result.first_call_ms = call(compiled)
            for _ in range(warmup):
                call(compiled)
            eager, fast = _in_turn(call, model, compiled, iterations)
        result.eager_time_ms = statistics.median(eager)
        result.compiled_time_ms = statistics.median(fast)
        result.speedup = result.eager_time_ms / result.compiled_time_ms if result.compiled_time_ms > 0 else None
        _judge(result, eager, fast)
        _read_logs(result)
        _recommend(result)
        return result


def _torch() -> Any:
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        raise Error("TorchCompileAnalyzer needs PyTorch 2.2 or later, and there is no module 'torch'") from None
    version = re.match(r"(\d+)\.(\d+)", str(torch.__version__))
    if version is None or (int(version[1]), int(version[2])) < (2, 2):
        raise Error(f"TorchCompileAnalyzer needs PyTorch 2.2 or later, and this is {torch.__version__}")
    return torch


def _call_with(torch: Any, input: Any) -> Callable[[Callable[..., Any]], float]:
    """A function that calls another with the input and gives its milliseconds, the GPU's work included."""
    cuda: Any = getattr(torch, "cuda", None)
    has_gpu = cuda is not None and cuda.is_available()

    def call(function: Callable[..., Any]) -> float:
        if has_gpu:
            cuda.synchronize()
        begin = time.perf_counter_ns()
        if isinstance(input, dict):
            function(**input)
        elif isinstance(input, tuple):
            function(*input)
        else:
            function(input)
        if has_gpu:
            cuda.synchronize()
        return (time.perf_counter_ns() - begin) / 1e6

    return call


def _in_turn(call: Callable[[Callable[..., Any]], float], eager: Callable[..., Any], compiled: Callable[..., Any],
             iterations: int) -> tuple[List[float], List[float]]:
    """Milliseconds of the calls of each; who goes first changes, because the first finds colder caches."""
    times: tuple[List[float], List[float]] = ([], [])
    for i in range(iterations):
        for side in ((0, 1) if i % 2 == 0 else (1, 0)):
            times[side].append(call((eager, compiled)[side]))
    return times


def _judge(result: CompileResult, eager: List[float], compiled: List[float]) -> None:
    """The verdict of `fathom compare`, with each block of calls as a run."""
    blocks = max(1, min(BLOCKS, len(eager) // 2))
    with tempfile.TemporaryDirectory(prefix="fathom-judge-") as folder:
        files = [_write_blocks(folder, name, times, blocks) for name, times in (("eager", eager), ("compiled", compiled))]
        comparison = compare_profiling_runs(files[0], files[1])
        operations = [each for each in comparison.operations if each.operation == OPERATION]
    words = {"IMPROVEMENT": "faster", "REGRESSION": "slower", "NO_CHANGE": "same"}
    for one in operations:
        result.verdict = words.get(one.change_type, one.change_type.lower())
        result.change_percent = one.change_percent
        result.change_percent_low = one.change_percent_low
        result.change_percent_high = one.change_percent_high


def _write_blocks(folder: str, name: str, times: List[float], blocks: int) -> List[str]:
    files = []
    for block in range(blocks):
        part = times[len(times) * block // blocks:len(times) * (block + 1) // blocks]
        begin, entries = 0.0, []
        for ms in part:
            entries.append({"operation": OPERATION, "start_time": begin, "end_time": begin + ms / 1e3, "duration_ms": ms, "device": "cpu"})
            begin += ms / 1e3
        files.append(os.path.join(folder, f"{name}-{block + 1}.json"))
        pathlib.Path(files[-1]).write_text(json.dumps({"entries": entries, "summary": {}}), encoding="utf-8")
    return files


class _TraceFormatter(logging.Formatter):
    """A record as torch writes it to TORCH_TRACE: a line of JSON behind its prefix, and the payload with tabs."""

    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%m%d %H:%M:%S", time.localtime(record.created))
        micros = int(record.created % 1 * 1e6)
        prefix = f"V{at}.{micros:06d} {record.process} {record.pathname}:{record.lineno}]"
        text = f"{prefix} {json.dumps(getattr(record, 'metadata', {}))}"
        payload = getattr(record, "payload", None)
        return text if payload is None else text + "".join(f"\n\t{line}" for line in str(payload).split("\n"))


class _torch_trace:
    """What torch logs meanwhile goes to a file in `folder`, beside wherever else it goes."""

    def __init__(self, torch: Any, folder: str) -> None:
        self.logger = logging.getLogger("torch.__trace")
        self.handler = logging.FileHandler(os.path.join(folder, "torch_trace.log"), encoding="utf-8", delay=True)
        self.handler.setFormatter(_TraceFormatter())
        structured = getattr(getattr(torch, "_logging", None), "structured", None)
        self.interned = getattr(structured, "INTERN_TABLE", None)

    def __enter__(self) -> None:
        self.level = self.logger.level
        if self.interned is not None:
            self.interned.clear()  # file names are logged once: they would be missing here
        self.logger.setLevel(logging.DEBUG)
        self.logger.addHandler(self.handler)

    def __exit__(self, *_: object) -> None:
        self.logger.removeHandler(self.handler)
        self.logger.setLevel(self.level)
        self.handler.close()


def _read_logs(result: CompileResult) -> None:
    if not os.listdir(result._folder):
        return
    result.logs = logs = dict(compile_logs(result._folder))
    result.compile_time_ms = logs["time_ms"]
    result.total_graph_breaks = logs["graph_breaks"]
    result.graph_breaks = [GraphBreak(one["reason"], one["advice"], one["where"], one["count"]) for one in logs["break_reasons"]]
    result.recompiles = logs["recompiles"]
    result.failures = logs["failures"]
    fusion = logs["fusion"] or {}
    result.ops_before_fusion = fusion.get("ops_before_fusion")
    result.ops_after_fusion = fusion.get("ops_after_fusion")
    result.fusion_ratio = fusion.get("fusion_ratio")


def _recommend(result: CompileResult) -> None:
    if result.verdict in ("slower", "same"):
        result.recommendations.append("Run this model without torch.compile: it brings nothing here")
    logs = result.logs or {}
    for group, what in (("failed", "could not be compiled"), ("break_reasons", "has a graph break"), ("recompiled", "was compiled again")):
        for one in logs.get(group, []):
            if one["advice"]:
                where = f" ({one['where']})" if one["where"] else ""
                result.recommendations.append(f"{one['function']} {what}{where}: {one['advice']}")
    for one in logs.get("cudagraph_skips", []):
        if one["advice"]:
            result.recommendations.append(f"CUDA graphs were not used, {one['reason']}: {one['advice']}")
