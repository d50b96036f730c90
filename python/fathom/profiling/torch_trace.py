"""A block recorded by PyTorch's profiler, with the scopes of Fathom in the same trace."""
import json
import os
import time
from typing import Any

from ..profiler import GPUProfiler, get_profiler
from ..trace import Trace, read


class TorchRecording:
    """Starts with construction; `end` writes the trace and reads it."""

    def __init__(self, torch: Any, path: str, with_memory: bool) -> None:
        self._path = path
        activities = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self._profile = torch.profiler.profile(activities=activities, record_shapes=True, profile_memory=with_memory)
        self._began = time.time()
        self._profile.__enter__()

    def end(self) -> Trace:
        self._profile.__exit__(None, None, None)
        self._profile.export_chrome_trace(self._path)
        add_scopes(self._path, get_profiler(), self._began, time.time())
        return read(self._path)


def add_scopes(path: str, profiler: GPUProfiler, began: float, ended: float) -> int:
    """Adds the scopes of a stretch of time to a trace of PyTorch, as ranges of their threads; returns how many."""
    scopes = [each for each in profiler.entries if began <= each.start_time and each.end_time <= ended]
    if not scopes:
        return 0
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    base_us = data.get("baseTimeNanoseconds", 0) / 1e3
    pid = os.getpid()
    for each in scopes:
        data["traceEvents"].append({"ph": "X", "cat": "user_annotation", "name": each.operation, "pid": pid, "tid": each.thread,
                                    "ts": each.start_time * 1e6 - base_us, "dur": each.duration_ms * 1e3,
                                    "args": {key: value for key, value in each.attributes.items()}})
    with open(path, "w", encoding="utf-8") as file:
        json.dump(data, file)
    return len(scopes)
