"""The rows of the profiler, of comparing and of advice: each call as users know it."""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from dataclasses import fields
from types import SimpleNamespace
from unittest import mock

import fathom


def printed(function, *args):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        function(*args)
    return out.getvalue()


def spend(ms):
    end = time.perf_counter() + ms / 1e3
    while time.perf_counter() < end:
        pass


class Profiler(unittest.TestCase):
    def test_measures_what_is_profiled(self):
        p = fathom.GPUProfiler(enabled=True, device_id=0, sample_rate=1.0, max_entries=10)
        with p.profile("multiply", device="cpu", backend=None, size=1024, kind="dense"):
            with p.profile("inside"):
                spend(2)
        entry = p.entries[0]
        self.assertEqual((entry.operation, entry.device, entry.attributes), ("multiply", "cpu", {"size": 1024, "kind": "dense"}))
        self.assertGreaterEqual(entry.duration_ms, 2)
        self.assertAlmostEqual(entry.end_time - entry.start_time, entry.duration_ms / 1e3, places=4)
        self.assertAlmostEqual(entry.start_time, time.time(), delta=60)
        self.assertIsNone(entry.memory_allocated_mb)
        self.assertEqual(p.entries[1].parent, 0)
        names = [each.name for each in fields(entry)]
        self.assertEqual(names[:14], ["operation", "start_time", "end_time", "duration_ms", "device", "backend", "gpu_time_ms",
                                      "cpu_time_ms", "transfer_time_ms", "overhead_ms", "memory_allocated_mb", "memory_peak_mb",
                                      "gpu_utilization", "memory_bandwidth_gb_s"])

    def test_summary_and_bottlenecks(self):
        p = fathom.GPUProfiler()
        for _ in range(4):
            with p.profile("a"):
                spend(1)
        with p.profile("b"):
            pass
        summary = p.get_summary()["a"]
        names = [each.name for each in fields(summary)]
        self.assertEqual(names[:11], ["operation", "call_count", "total_time_ms", "avg_time_ms", "min_time_ms", "max_time_ms",
                                      "std_dev_ms", "total_gpu_time_ms", "total_cpu_time_ms", "avg_memory_mb", "avg_gpu_utilization"])
        self.assertEqual(summary.call_count, 4)
        self.assertAlmostEqual(summary.total_time_ms, 4 * summary.avg_time_ms, places=6)
        self.assertLessEqual(summary.min_time_ms, summary.max_time_ms)
        first = p.get_bottlenecks(top_n=1)
        self.assertEqual([each.operation for each in first], ["a"])
        self.assertGreater(first[0].share, 0.9)
        self.assertIn("a", printed(p.print_summary))
        self.assertIn("a", printed(p.print_bottlenecks, 5))
        self.assertIn("<table>", p._repr_html_())

    def test_can_be_turned_off_and_forget(self):
        p = fathom.GPUProfiler(enabled=False)
        with p.profile("off"):
            pass
        self.assertFalse(p.enabled)
        p.enable()
        self.assertTrue(p.enabled)
        with p.profile("on"):
            pass
        self.assertEqual(list(p.get_summary()), ["on"])
        p.disable()
        p.enabled = True
        p.reset()
        self.assertEqual((p.get_summary(), p.entries), ({}, []))
        with self.assertRaisesRegex(ValueError, "sample_rate"):
            fathom.GPUProfiler(sample_rate=2)

    def test_the_decorator_of_a_profiler(self):
        p = fathom.GPUProfiler()

        @p.profile_function()
        def plain(x):
            return x

        @p.profile_function(operation="named", device="gpu")
        def named(x):
            raise ValueError(x)

        @p.profile_function
        async def later():
            return 1

        self.assertEqual(plain(3), 3)
        with self.assertRaises(ValueError):
            named(1)
        import asyncio

        self.assertEqual(asyncio.run(later()), 1)
        self.assertEqual(p.get_summary()["named"].error_count, 1)
        self.assertEqual(len(p.get_summary()), 3)

    def test_the_global_one_is_always_the_same(self):
        p = fathom.get_profiler()
        self.assertIs(p, fathom.get_profiler(enabled=True))
        p.reset()
        with p.profile("global"):
            with fathom.scope("same"):
                pass

        @p.profile_function
        def function():
            pass

        function()
        self.assertEqual({"global", "same"} - set(p.get_summary()), set())
        self.assertEqual(len(p.get_summary()), 3)
        self.assertFalse(fathom.get_profiler(enabled=False).enabled)
        fathom.get_profiler(enabled=True)

    def test_scopes_keep_their_profiler_alive(self):
        scope = fathom.GPUProfiler().profile("kept", size=1)
        with scope:
            pass

    def test_exports_what_others_read(self):
        p = fathom.GPUProfiler()
        with p.profile("exported", size=3):
            pass
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profile.json")
            p.export_json(path)
            with open(path) as file:
                data = json.load(file)
            self.assertEqual(data["entries"][0]["operation"], "exported")
            self.assertEqual(data["summary"]["exported"]["call_count"], 1)
            self.assertEqual(fathom.read(path).run["format"], "profile JSON")
        with self.assertRaises(OSError) as caught:
            p.export_json("/nowhere/profile.json")
        self.assertIsInstance(caught.exception, fathom.Error)
        self.assertRegex(str(caught.exception), "^/nowhere/profile.json: [A-Za-z ]+$")

    def test_says_whether_there_is_cuda(self):
        for found in (True, False):
            torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: found))
            with mock.patch.dict(sys.modules, {"torch": torch}):
                self.assertIs(fathom.is_cuda_available(), found)
        with mock.patch("ctypes.CDLL", side_effect=OSError):
            self.assertIs(fathom.is_cuda_available(), False)

        class Driver:
            def cuInit(self, flags):
                return 0

            def cuDeviceGetCount(self, count):
                count._obj.value = devices
                return 0

        for devices in (0, 2):
            with mock.patch("ctypes.CDLL", return_value=Driver()):
                self.assertIs(fathom.is_cuda_available(), devices > 0)


def write_profile(path, factor):
    entries, now = [], 1.7e9
    for i in range(60):
        for name, ms in (("matmul", 10 * factor), ("load", 5.0), ("tiny", 0.01)):
            ms *= 1 + 0.002 * (i % 7)
            entries.append({"operation": name, "start_time": now, "end_time": now + ms / 1e3, "duration_ms": ms, "device": "cpu"})
            now += ms / 1e3
    summary = {}
    for name in ("matmul", "load", "tiny"):
        times = [each["duration_ms"] for each in entries if each["operation"] == name]
        summary[name] = {"call_count": len(times), "total_time_ms": sum(times)}
    with open(path, "w") as file:
        json.dump({"entries": entries, "summary": summary}, file)
    return path


class Comparing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.before = [write_profile(os.path.join(self.folder, f"before{i}.json"), 1 + 0.001 * i) for i in range(5)]
        self.now = [write_profile(os.path.join(self.folder, f"now{i}.json"), 1.5 + 0.001 * i) for i in range(5)]

    def test_several_runs_per_side(self):
        c = fathom.compare_profiling_runs(self.before, self.now, significance_threshold=5.0)
        summary = c.get_summary()
        self.assertEqual(summary.regressions_count, 1)
        self.assertEqual((summary.improvements_count, summary.new_count, summary.removed_count), (0, 0, 0))
        self.assertEqual(summary.outcome, "regression")
        self.assertGreater(summary.overall_change_percent, 5)
        self.assertGreaterEqual(summary.no_change_count, 1)
        worst = c.get_regressions(top_n=5)[0]
        self.assertEqual((worst.operation, worst.change_type, worst.is_significant), ("matmul", "REGRESSION", True))
        self.assertAlmostEqual(worst.change_percent, 50, delta=2)
        self.assertAlmostEqual(worst.change_ms, worst.current_time_ms - worst.baseline_time_ms)
        self.assertEqual(c.get_improvements(), [])
        better = fathom.compare_profiling_runs(self.now, self.before)
        self.assertEqual(better.get_improvements(top_n=1)[0].operation, "matmul")

    def test_prints_and_exports(self):
        c = fathom.compare_profiling_runs(self.before[0], self.now[0])
        self.assertIn("matmul", printed(c.print_summary))
        suspect = printed(c.print_regressions)
        self.assertIn("matmul", suspect)
        self.assertNotIn("load", suspect)
        better = fathom.compare_profiling_runs(self.now, self.before)
        self.assertIn("matmul", printed(better.print_improvements))
        self.assertNotIn("matmul", printed(better.print_regressions))
        path = os.path.join(self.folder, "comparison.json")
        c.export_json(path)
        with open(path) as file:
            self.assertIn("schema", json.load(file))
        self.assertIn("<table>", c._repr_html_())

    def test_what_is_wrong_is_one_line(self):
        with self.assertRaises(FileNotFoundError) as caught:
            fathom.compare_profiling_runs(os.path.join(self.folder, "none.json"), self.now)
        self.assertRegex(str(caught.exception), r"none.json: [A-Za-z ]+")
        self.assertNotIn("Errno", str(caught.exception))
        with self.assertRaises(ValueError):
            fathom.compare_profiling_runs(self.before, self.now, -1)


class Advice(unittest.TestCase):
    def test_suggestions_of_a_profile(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profile.json")
            calls = [{"operation": "tiny", "start_time": 1.7e9 + i * 5e-5, "end_time": 1.7e9 + (i + 1) * 5e-5, "duration_ms": 0.05,
                      "device": "cpu"} for i in range(500)]
            data = {"entries": calls, "summary": {"tiny": {"call_count": 500, "total_time_ms": 25.0, "avg_time_ms": 0.05}}}
            with open(path, "w") as file:
                json.dump(data, file)
            for given in (data, path, fathom.read(path)):
                o = fathom.ProfilerOptimizer(given)
                found = o.get_suggestions(top_n=10)
                self.assertTrue(found)
                first = found[0]
                self.assertEqual([each.name for each in fields(first)][:9],
                                 ["operation", "suggestion_type", "priority", "description", "expected_improvement",
                                  "implementation_hint", "current_time_ms", "estimated_time_ms", "potential_speedup"])
                self.assertIn(first.suggestion_type, {"routing", "batching", "memory", "caching", "algorithm", "parallelization"})
                self.assertIn(first.priority, {"critical", "high", "medium", "low"})
                self.assertEqual([each.priority for each in o.get_critical_suggestions()], ["critical"])
                for print_them in (lambda: o.print_suggestions(10), o.print_critical_suggestions):
                    self.assertIn(first.title, " ".join(printed(print_them).split()))
                out = os.path.join(folder, "suggestions.json")
                o.export_suggestions(out)
                with open(out) as file:
                    self.assertEqual(len(json.load(file)["suggestions"]), len(o.get_suggestions(1000)))

    def test_says_the_same_as_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            path = write_profile(os.path.join(folder, "profile.json"), 1)
            said = subprocess.run([sys.executable, "-m", "fathom", "suggest", path, "--all", "--top", "0", "--json"],
                                  capture_output=True, check=True)
            self.assertEqual(json.loads(said.stdout), dict(fathom.ProfilerOptimizer(path).report))


if __name__ == "__main__":
    unittest.main()
