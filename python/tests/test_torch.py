"""With PyTorch, where it is installed: Debian's 1.13 on the CPU is enough."""
import collections
import importlib.util
import itertools
import os
import tempfile
import time
import unittest
from types import SimpleNamespace

import fathom


def spread(profile):
    """Gives events other times: in whole microseconds, short ones have the same ends, or end after what is around them, and
    PyTorch's own table depends on which it takes for the outer one."""
    from torch.autograd.profiler_util import Interval

    inside = collections.defaultdict(list)
    for each in profile.events():
        inside[id(each.cpu_parent) if each.cpu_parent is not None else None].append(each)
    now = 0

    def place(each):
        nonlocal now
        now += 3
        start = now
        for child in inside[id(each)]:
            place(child)
        now += len(each.name)
        each.time_range = Interval(start, start if each.name == "[memory]" else now)

    for root in inside[None]:
        place(root)
    return profile


@unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch")
class Torch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import torch
        from torch.profiler import ProfilerActivity, profile, record_function

        cls.torch = torch
        cls.model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
        cls.input = torch.randn(32, 64)
        cls.model(cls.input)

        def record():
            with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True) as recorded:
                for _ in range(3):
                    with record_function("forward pass"):
                        cls.model(cls.input).sum().backward()
            return recorded

        cls.profile, cls.spread = record(), spread(record())

    def test_a_live_profiler_becomes_a_trace(self):
        trace = fathom.from_profiler(self.profile)
        names = list(trace.spans.name)
        self.assertEqual(names.count("aten::linear"), 6)
        self.assertEqual(names.count("forward pass"), 3)
        self.assertIn("annotation", {trace.kinds[trace.spans.kind[i]] for i, name in enumerate(names) if name == "forward pass"})
        own = {each.key: each for each in self.profile.key_averages()}
        rows = trace.spans.where(name="aten::linear")
        self.assertEqual(int(rows.sum()), own["aten::linear"].count)
        self.assertAlmostEqual(trace.spans.duration_ns[rows].sum() / 1e3, own["aten::linear"].cpu_time_total, delta=50)

    def test_all_figures_are_those_of_its_own_table(self):
        trace = fathom.from_profiler(self.spread)
        ours = {each["name"]: each for each in trace.report()["operations"]}
        table = [each for each in self.spread.key_averages() if each.key != "[memory]"]
        self.assertGreater(len(table), 20)
        self.assertEqual(set(ours), {each.key for each in table})
        for theirs in table:
            with self.subTest(theirs.key):
                found = ours[theirs.key]
                self.assertEqual(found["calls"], theirs.count)
                self.assertAlmostEqual(found["total_ns"] / 1e3, theirs.cpu_time_total, delta=0.01)
                self.assertAlmostEqual(found["self_ns"] / 1e3, theirs.self_cpu_time_total, delta=0.01)
        changes = [int(each) for each in trace.memory_events.bytes]
        self.assertEqual(sum(changes), sum(each.self_cpu_memory_usage for each in self.spread.key_averages()))
        self.assertEqual(sum(each > 0 for each in changes), sum(each.self_cpu_memory_usage > 0 for each in self.spread.events()))
        levels = [0, *itertools.accumulate(changes)]  # below 0: something from before was given back
        self.assertAlmostEqual(trace.memory()["peak_allocated_mb"], (max(levels) - min(levels)) / (1 << 20))

    def test_flame_and_timeline_take_it_too(self):
        from fathom.profiling import FlameGraphGenerator, TimelineGenerator

        data = FlameGraphGenerator(min_duration_us=0).from_profiler(self.spread)
        thread = data["root"]["children"][0]
        steps = [each for each in thread["children"] if each["name"] == "forward pass"]
        own = {each.key: each for each in self.spread.key_averages()}
        self.assertAlmostEqual(steps[0]["cpu_ns"] / 1e3, own["forward pass"].cpu_time_total, delta=0.01)
        timeline = TimelineGenerator().from_profiler(self.spread)
        roots = [each for each in self.spread.events() if each.cpu_parent is None and each.name != "[memory]"]
        self.assertAlmostEqual(timeline.cpu_active_time_us, sum(each.cpu_time_total for each in roots), delta=0.01)
        self.assertIsNone(timeline.gpu_active_time_us)

    def test_scopes_are_joined_to_a_live_profiler(self):
        from torch.profiler import ProfilerActivity, profile

        fathom.get_profiler(enabled=True).reset()
        with fathom.scope("before"):
            pass
        with profile(activities=[ProfilerActivity.CPU]) as prof:
            with fathom.scope("our scope", size=3):
                self.model(self.input)
        with fathom.scope("afterwards"):
            pass
        trace = fathom.from_profiler(prof)
        names = list(trace.spans.name)
        row = names.index("our scope")
        self.assertEqual(trace.args(row)["size"], 3)
        self.assertEqual(names[trace.spans.parent[names.index("aten::linear")]], "our scope")
        self.assertFalse({"before", "afterwards"} & set(names))

    def test_a_session_has_its_operators_and_our_scopes(self):
        from fathom.profiling import UnifiedProfiler

        fathom.get_profiler(enabled=True).reset()
        with tempfile.TemporaryDirectory() as folder:
            with UnifiedProfiler(folder).profile("step") as session:
                with fathom.scope("our scope"):
                    self.model(self.input)
            self.assertTrue(session.trace_path.startswith(folder))
            names = set(fathom.read(session.trace_path).spans.name)
            self.assertTrue({"our scope", "aten::linear"} <= names)
            self.assertIn("aten::linear", str(session.flame_graph_data))
        self.assertTrue(os.path.basename(session.trace_path).startswith("step"))

    def test_a_session_has_more_scopes_than_the_profiler_keeps(self):
        from fathom.profiling import UnifiedProfiler

        native = fathom.get_profiler(enabled=True)._native
        native.configure(True, None, 1.0, 10)
        self.addCleanup(native.configure, True, None, 1.0, 100_000)
        with tempfile.TemporaryDirectory() as folder:
            with UnifiedProfiler(folder).profile("many") as session:
                for _ in range(50):
                    with fathom.scope("one of many"):
                        pass
            self.assertEqual(list(fathom.read(session.trace_path).spans.name).count("one of many"), 50)
        with self.profile_again() as prof:
            for _ in range(50):
                with fathom.scope("one of many"):
                    pass
        self.assertIn("scopes are not in the trace", fathom.from_profiler(prof).warnings[0])

    def test_a_session_inside_of_a_profiler_leaves_no_recording_behind(self):
        from fathom.profiling import UnifiedProfiler

        with tempfile.TemporaryDirectory() as folder, self.profile_again():
            with self.assertRaises(RuntimeError):
                with UnifiedProfiler(folder).profile("inside"):
                    pass
        self.assertFalse(fathom.get_profiler().is_recording)

    def profile_again(self):
        return self.torch.profiler.profile(activities=[self.torch.profiler.ProfilerActivity.CPU])

    def test_memory_of_a_session(self):
        from fathom.profiling import UnifiedProfiler

        with tempfile.TemporaryDirectory() as folder:
            with UnifiedProfiler(folder, enable_flame_graph=False).profile("block") as session:
                block = self.torch.zeros(1 << 20, dtype=self.torch.float32)
            del block
            peak = fathom.read(session.trace_path).memory()["peak_allocated_mb"]
        self.assertGreaterEqual(peak, 4)
        self.assertLess(peak, 5)
        self.assertGreater(session.peak_host_memory_mb, 4)
        self.assertEqual(session.kernels, [])
        self.assertIsNone(session.cuda_time_ms)



def event(name, start, end, *, thread=1, memory=0, self_memory=0, device="CPU", **more):
    named = {"scope": 0, "is_async": False, "input_shapes": [[2, 3]], "cuda_memory_usage": 0, "self_cuda_memory_usage": 0,
             "device_index": 0, **more}
    return SimpleNamespace(name=name, trace_name=name, time_range=SimpleNamespace(start=start, end=end), thread=thread,
                           cpu_memory_usage=memory, self_cpu_memory_usage=self_memory,
                           device_type=SimpleNamespace(name=device), **named)


class StandIn:
    """A profiler that has stopped, of a PyTorch with Kineto or without."""

    def __init__(self, written, events=(), began_us=None):
        self.written, self.listed = written, list(events)
        if began_us is not None:
            self.profiler = SimpleNamespace(kineto_results=SimpleNamespace(trace_start_us=lambda: began_us))

    def export_chrome_trace(self, path):
        with open(path, "w") as file:
            file.write(self.written)

    def events(self):
        return self.listed


class StandIns(unittest.TestCase):
    def setUp(self):
        fathom.get_profiler(enabled=True).reset()

    def test_without_kineto_the_events_are_the_trace(self):
        bare = '[{"name": "aten::mm", "ph": "X", "ts": 10, "dur": 90, "tid": 1, "pid": "CPU functions", "args": {}}]'
        began_us = int(time.time() * 1e6)
        with fathom.scope("ours", size=3):
            time.sleep(0.001)
        events = [event("step", 10, 10_000, scope=7, input_shapes=[]), event("aten::mm", 100, 190, memory=64, self_memory=64),
                  event("[memory]", 200, 200, memory=-64), event("kernel", 150, 180, device="CUDA", thread=7)]
        trace = fathom.from_profiler(StandIn(bare, events, began_us - 100))
        names = list(trace.spans.name)
        self.assertEqual(sorted(names), ["aten::mm", "kernel", "ours", "step"])
        self.assertEqual(trace.spans.duration_ns[names.index("aten::mm")], 90_000)
        self.assertEqual(trace.kinds[trace.spans.kind[names.index("step")]], "annotation")
        self.assertEqual(trace.kinds[trace.spans.kind[names.index("kernel")]], "kernel")
        self.assertEqual(list(trace.memory_events.bytes), [64, -64])
        self.assertEqual(trace.args(names.index("ours"))["size"], 3)
        self.assertEqual(trace.run["base_time_ns"], (began_us - 100) * 1000)
        self.assertEqual(trace.args(names.index("aten::mm"))["Input Dims"], [[2, 3]])

    def test_with_kineto_scopes_are_put_into_its_file_even_if_that_is_not_quite_json(self):
        base_us = int(time.time() * 1e6) - 1_000_000
        with fathom.scope("ours"):
            pass
        for events in ("", '{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 999000, "dur": 9000000, '
                           '"args": {"path": "C:\\x"}}'):
            written = f'{{"schemaVersion": 1, "baseTimeNanoseconds": {base_us * 1000}, "traceEvents": [{events}]}}'
            trace = fathom.from_profiler(StandIn(written, began_us=base_us))
            self.assertEqual(sorted(trace.spans.name), ["aten::mm", "ours"] if events else [])
            self.assertEqual(trace.notes, [])

    def test_what_is_no_profiler_is_refused(self):
        with self.assertRaises(TypeError):
            fathom.from_profiler(3)


if __name__ == "__main__":
    unittest.main()
