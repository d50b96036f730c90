"""What PyTorch's profiler recorded, with the scopes of Fathom in the same trace."""
import json
import os
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Optional

from .profiler import get_profiler
from .trace import Trace, read

_CPU, _USER_SCOPE = "CPU", 7  # DeviceType and RecordScope, as PyTorch has them


@dataclass(frozen=True)
class Scope:
    """A scope of ours that has ended; `start_us` counts from 1970."""

    name: str
    thread: int
    start_us: float
    duration_us: float
    attributes: "dict[str, Any]"


class ScopeRecording:
    """All scopes of a stretch of time, however many: a recording of its own. Where the program is recorded already, which
    a second recording would end, those that the profiler keeps."""

    def __init__(self) -> None:
        self.began_us = time.time() * 1e6
        self._folder: "Optional[tempfile.TemporaryDirectory[str]]" = None
        self.notes: "list[str]" = []
        if not get_profiler().is_recording:
            folder = tempfile.TemporaryDirectory(prefix="fathom-scopes-")
            if get_profiler().start_recording(os.path.join(folder.name, "scopes.pftrace")):
                self._folder = folder
            else:
                folder.cleanup()

    def end(self) -> "list[Scope]":
        """Those that have ended since; once."""
        if self._folder is None:
            found, self.notes = kept_scopes()
            return [each for each in found if each.start_us >= self.began_us]
        get_profiler().stop_recording()
        with self._folder as folder:
            return list(_recorded_scopes(read(os.path.join(folder, "scopes.pftrace"))))


def _recorded_scopes(run: Trace) -> Iterator[Scope]:
    base_ns = run.run["base_time_ns"] or 0
    scope = run.kinds.index("scope")
    spans, names, tracks = run.spans, run.names, run.tracks
    columns = zip(spans.kind, spans.name_id, spans.track, spans.start_ns, spans.duration_ns)
    for row, (kind, name, track, start_ns, duration_ns) in enumerate(columns):
        if kind == scope:
            yield Scope(names[name], tracks[track].tid, (base_ns + int(start_ns)) / 1e3, int(duration_ns) / 1e3, run.args(row))


def kept_scopes() -> "tuple[list[Scope], list[str]]":
    """The scopes that the profiler keeps, and what to say where it could not keep all."""
    profiler = get_profiler()
    scopes = [Scope(each.operation, each.thread, each.start_time * 1e6, each.duration_ms * 1e3, each.attributes)
              for each in profiler.entries]
    missing = profiler.drops["entries"]
    return scopes, [f"{missing:,} scopes are not in the trace: the profiler keeps {len(scopes):,}"] if missing else []


class TorchRecording:
    """A block recorded by PyTorch's profiler. It starts with construction; `end` writes the trace and reads it."""

    def __init__(self, torch: Any, path: str, with_memory: bool) -> None:
        self._path = path
        activities = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self._profile = torch.profiler.profile(activities=activities, record_shapes=True, profile_memory=with_memory)
        self._profile.__enter__()  # which fails inside of another profiler
        self._scopes = ScopeRecording()

    def end(self) -> Trace:
        self._profile.__exit__(None, None, None)
        scopes = self._scopes.end()
        notes = export(self._profile, self._path, scopes, (self._scopes.began_us, time.time() * 1e6))
        trace = read(self._path)
        trace.notes += self._scopes.notes + notes
        return trace


def export(profile: Any, path: str, scopes: "Iterable[Scope]", within_us: "Optional[tuple[float, float]]" = None) -> "list[str]":
    """Writes what a profiler recorded as Chrome JSON, with those of the scopes that began meanwhile; says what is missing."""
    began_us = _start_us(profile) or (within_us[0] if within_us else None)
    profile.export_chrome_trace(path)
    with open(path, "rb") as file:
        is_bare = file.read(64).lstrip().startswith(b"[")
    if is_bare:
        # A PyTorch without Kineto, as Debian's, writes names and times alone: its events know more.
        with open(path, "w", encoding="utf-8") as file_of_events:
            json.dump(data_of_events(profile, began_us), file_of_events)
    return add_scopes(path, scopes, began_us, within_us[1] if within_us else None)


def add_scopes(path: str, scopes: "Iterable[Scope]", began_us: Optional[float] = None,
               ended_us: Optional[float] = None) -> "list[str]":
    """Adds to a trace of PyTorch the scopes that began while it was recorded, as ranges of their threads. Where nobody knows
    when recording began or ended, its first and last span tell."""
    scopes = list(scopes)
    if not scopes:
        return []
    trace = read(path)
    base_us = (trace.run["base_time_ns"] or 0) / 1e3
    starts, durations = trace.spans.start_ns, trace.spans.duration_ns
    if len(starts) == 0 and (began_us is None or ended_us is None):
        return []
    first_us = began_us if began_us is not None else min(starts) / 1e3 + base_us
    last_us = ended_us
    if last_us is None:
        last_us = max(start + duration for start, duration in zip(starts, durations)) / 1e3 + base_us
    events = [{"ph": "X", "cat": "user_annotation", "name": each.name, "pid": os.getpid(), "tid": each.thread,
               "ts": each.start_us - base_us, "dur": each.duration_us, "args": each.attributes}
              for each in scopes if first_us <= each.start_us <= last_us]
    return _insert(path, events) if events else []


def _insert(path: str, events: "list[dict[str, Any]]") -> "list[str]":
    # As text: PyTorch writes files that are not quite JSON, and large ones.
    with open(path, "rb") as file:
        text = file.read()
    key = text.find(b'"traceEvents"')
    start = text.find(b"[", key) + 1 if key >= 0 else 0
    if start == 0:
        return ["The scopes are not in the trace: it has no traceEvents"]
    ours = json.dumps(events)[1:-1].encode()
    comma = b"" if text[start:start + 64].lstrip().startswith(b"]") else b","
    with open(path, "wb") as file:
        file.write(text[:start] + ours + comma + text[start:])
    return []


def data_of_events(profile: Any, began_us: Optional[float] = None) -> "dict[str, Any]":
    """What `profile.events()` has, in the form that Kineto writes.

    Times of events count from the profiler's start. Of memory, the events say what an operation took and gave back
    altogether: that is one change, at its end.
    """
    events = profile.events() if hasattr(profile, "events") else profile.function_events
    pid = os.getpid()
    threads = _own_thread()
    written: "list[dict[str, Any]]" = []
    for number, event in enumerate(events):
        start, end = event.time_range.start, event.time_range.end
        tid = threads.get(event.thread, event.thread)
        place = {"pid": pid, "tid": tid}
        device = getattr(getattr(event, "device_type", None), "name", _CPU)
        name = getattr(event, "trace_name", None) or event.name
        if device != _CPU:
            written.append({"ph": "X", "cat": "kernel", "name": name, "pid": event.device_index, "tid": f"stream {event.thread}",
                            "ts": start, "dur": end - start, "args": {"device": event.device_index}})
            continue
        if event.name == "[memory]":
            written += _memory(event, event.cpu_memory_usage, event.cuda_memory_usage, place)
            continue
        category = "user_annotation" if getattr(event, "scope", 0) == _USER_SCOPE else "cpu_op"
        args = {"Input Dims": [list(each) for each in event.input_shapes]} if event.input_shapes else {}
        span = {"cat": category, "name": name, **place}
        if event.is_async:  # begins on one thread and ends on another
            written.append({"ph": "b", "id": number, "ts": start, "args": args, **span})
            written.append({"ph": "e", "id": number, "ts": end, **span})
            continue
        written.append({"ph": "X", "ts": start, "dur": end - start, "args": args, **span})
        written += _memory(event, event.self_cpu_memory_usage, event.self_cuda_memory_usage, place)
    found: "dict[str, Any]" = {"schemaVersion": 1, "traceEvents": written}
    if began_us is not None:
        found["baseTimeNanoseconds"] = round(began_us) * 1000
    return found


def _memory(event: Any, cpu: int, cuda: int, place: "dict[str, Any]") -> "list[dict[str, Any]]":
    # Device types as PyTorch numbers them. Of the host there is no device number.
    changes = [(cpu, {"Device Type": 0, "Device Id": -1}), (cuda, {"Device Type": 1, "Device Id": max(event.device_index, 0)})]
    return [{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "ts": event.time_range.end,
             "args": {"Bytes": size, **device}, **place} for size, device in changes if size]


def _start_us(profile: Any) -> Optional[float]:
    """When it began, from 1970; None where it does not say, or counts from something else."""
    results = getattr(getattr(profile, "profiler", profile), "kineto_results", None)
    start_us, start_ns = getattr(results, "trace_start_us", None), getattr(results, "trace_start_ns", None)
    found = float(start_us()) if start_us is not None else start_ns() / 1e3 if start_ns is not None else 0.0
    return found if abs(time.time() * 1e6 - found) < 365 * 86_400e6 else None


def _own_thread() -> "dict[int, int]":
    """PyTorch's number of this thread → the system's, which our scopes have. It numbers threads as they come, and tells the
    number in an event only; those of other threads stay as they are."""
    torch = sys.modules.get("torch")
    try:
        with torch.autograd.profiler.profile() as short:  # type: ignore[union-attr]
            with torch.profiler.record_function("fathom"):  # type: ignore[union-attr]
                pass
        numbers = {event.thread for event in short.function_events if event.name == "fathom"}
    except (AttributeError, RuntimeError):  # another profiler runs
        return {}
    return {number: threading.get_native_id() for number in numbers}
