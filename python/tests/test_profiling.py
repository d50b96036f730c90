"""The rows of fathom.profiling."""
import json
import os
import sys
import tempfile
import time
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import fathom
from fathom.profiling import FlameGraphGenerator, HTAAnalyzer, MemoryProfiler, TimelineGenerator, UnifiedProfiler

GOLDEN = Path(os.environ["FATHOM_SOURCE_DIR"]) / "tests" / "golden"
TRAINING = str(GOLDEN / "training_step" / "trace.json")


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()


class Sessions(InFolder):
    def test_a_block(self):
        u = UnifiedProfiler(self.path("out"), enable_trace=True, enable_memory=True, enable_flame_graph=True)
        with u.profile("block") as session:
            self.assertIsNone(session.total_time_ms)
            with fathom.scope("inside the block"):
                time.sleep(0.02)
        self.assertGreaterEqual(session.total_time_ms, 20)
        self.assertTrue(os.path.exists(session.trace_path))
        self.assertIn("inside the block", json.dumps(session.flame_graph_data))
        for name in ("cuda_time_ms", "cpu_time_ms", "peak_memory_mb", "allocated_memory_mb", "reserved_memory_mb", "kernels",
                     "bottlenecks", "recommendations"):
            getattr(session, name)
        self.assertEqual(session.kernels, [])
        self.assertIn("inside the block", [each["operation"] for each in session.bottlenecks])
        self.assertIs(u.sessions[0], session)
        self.assertIn("</html>", Path(u.export_page(session, self.path("page.html"))).read_text())

    def test_an_exception_passes_and_the_session_is_filled(self):
        u = UnifiedProfiler(self.path("out"), enable_trace=False, enable_memory=False, enable_flame_graph=False)
        with self.assertRaises(KeyError):
            with u.profile("fails"):
                raise KeyError
        self.assertIsNotNone(u.sessions[0].total_time_ms)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_a_function_and_two_sessions_compared(self):
        u = UnifiedProfiler(self.path("out"), enable_trace=False, enable_flame_graph=False)
        counted = []
        slow = u.profile_function(lambda ms: (counted.append(1), time.sleep(ms / 1e3)), 10, name="slow", warmup=2, iterations=4)
        self.assertEqual(len(counted), 6)
        fast = u.profile_function(time.sleep, 0.002, name="fast", warmup=0, iterations=2)
        self.assertEqual((slow.name, slow.iterations), ("slow", 4))
        compared = u.compare_sessions(slow, fast)
        self.assertGreater(compared["speedup"], 1.5)
        self.assertEqual(compared["memory_diff"]["peak_mb"], fast.peak_memory_mb - slow.peak_memory_mb)
        slow.peak_memory_mb, fast.peak_memory_mb = 12.0, 14.5
        slow.allocated_memory_mb = None  # not measured
        self.assertEqual(u.compare_sessions(slow, fast)["memory_diff"], {"peak_mb": 2.5, "allocated_mb": None})


class Memory(InFolder):
    def test_follows_what_a_block_takes(self):
        memory = MemoryProfiler(sample_interval_ms=1.0, record_history=True)
        with memory.track("load"):
            data = bytearray(60_000_000)
            time.sleep(0.03)
        del data
        timeline = memory.get_timeline()
        self.assertTrue({"time_ms", "allocated_mb", "reserved_mb"} <= set(timeline[0]))
        grown = max(each["rss_mb"] for each in timeline) - timeline[0]["rss_mb"]
        self.assertGreater(grown, 40)
        peak = memory.get_peak_analysis()
        self.assertTrue({"peak_allocated_mb", "peak_time_ms"} <= set(peak))
        self.assertEqual(memory.get_tracked()[0]["name"], "load")
        memory.export(self.path("memory.json"))
        json.loads(self.text("memory.json"))
        with self.assertRaises(ValueError):
            MemoryProfiler(sample_interval_ms=0)

    def test_knows_device_memory_that_it_is_told_of(self):
        from fathom import _native

        memory = MemoryProfiler()
        with memory.track("device"):
            _native.record_memory(3 << 20, 4096, 0, 4 << 20, "allocator")
            _native.record_memory(-(3 << 20), 4096, 0, 4 << 20, "allocator")
            _native.record_memory(2 << 20, 8192, 0, 4 << 20, "allocator")
        self.assertEqual(memory.get_peak_analysis()["peak_allocated_mb"], 3)
        self.assertEqual(memory.get_timeline()[-1]["allocated_mb"], 2)
        self.assertEqual(memory.get_timeline()[-1]["reserved_mb"], 4)
        self.assertEqual([each["allocated_mb"] for each in memory.get_leaks()], [2])

    def test_follows_the_allocator_of_pytorch(self):
        levels, highest = [5 << 20], [20 << 20]  # it had more once, before
        cuda = SimpleNamespace(is_available=lambda: True, is_initialized=lambda: True, device_count=lambda: 1,
                               memory_allocated=lambda device: levels[0], max_memory_allocated=lambda device: highest[0],
                               memory_reserved=lambda device: 40 << 20)
        memory = MemoryProfiler(sample_interval_ms=10_000)  # the end of the block is the only look
        with mock.patch.dict(sys.modules, {"torch": SimpleNamespace(cuda=cuda)}):
            with memory.track("step"):
                highest[0] = 30 << 20  # for a moment, between two looks
                levels[0] = 7 << 20
            self.assertEqual(memory.get_peak_analysis()["peak_allocated_mb"], 30)
            levels_seen = [each["allocated_mb"] for each in memory.get_timeline()]
            self.assertEqual((max(levels_seen), levels_seen[-1]), (30, 7))
            self.assertEqual(memory.get_timeline()[-1]["reserved_mb"], 40)
            self.assertEqual([each["allocated_mb"] for each in memory.get_leaks()], [2])  # not what was there before
            memory.export(self.path("memory.json"))
            self.assertEqual([each["allocated_mb"] for each in json.loads(self.text("memory.json"))["leaks"]], [2])
            with memory.track("frees"):
                levels[0] = 1 << 20
        self.assertEqual(memory.get_timeline()[-1]["allocated_mb"], 1)
        self.assertEqual(memory.get_peak_analysis()["peak_allocated_mb"], 7)
        self.assertEqual(memory.get_leaks(), [])


class Graphs(InFolder):
    def test_flame_graphs(self):
        generator = FlameGraphGenerator(min_duration_us=10.0, max_depth=50, group_small_kernels=True)
        data = generator.from_chrome_trace(TRAINING)
        self.assertTrue(data["children"] if "children" in data else data)
        generator.export(data, self.path("flame.html"), format="html")
        self.assertIn("</html>", self.text("flame.html"))
        generator.export(data, self.path("flame.json"), format="json")
        self.assertEqual(json.loads(self.text("flame.json")), dict(data))
        with self.assertRaisesRegex(ValueError, "html or json"):
            generator.export(data, self.path("flame.svg"), format="svg")

    def test_timelines(self):
        generator = TimelineGenerator(min_duration_us=1.0, include_python_events=True)
        t = generator.from_chrome_trace(TRAINING)
        found = fathom.read(TRAINING).timeline()
        self.assertEqual(t.total_time_us, found["total_time_ns"] / 1e3)
        self.assertLessEqual(t.overlap_time_us, min(t.cpu_active_time_us, t.gpu_active_time_us))
        generator.export_chrome_trace(t, self.path("trace.json"))
        self.assertEqual(len(fathom.read(self.path("trace.json")).spans),
                         int((fathom.read(TRAINING).spans.duration_ns >= 1000).sum()))
        TimelineGenerator(min_duration_us=1e9).export_chrome_trace(t, self.path("empty.json"))
        generator.generate_html_viewer(t, self.path("timeline.html"))
        self.assertIn("</html>", self.text("timeline.html"))

    def test_holistic_analysis(self):
        analyzer = HTAAnalyzer(self.path("out"))
        r = analyzer.analyze_trace(TRAINING)
        for name in ("gpu_idle_time_pct", "compute_time_pct", "communication_time_pct"):
            self.assertTrue(0 <= getattr(r, name) <= 100)
        first = r.top_kernels[0]
        self.assertEqual(first["time_us"], r["top_kernels"][0]["sum_ns"] / 1e3)
        self.assertIsInstance(r.recommendations, list)
        self.assertIsInstance(r.bottlenecks, list)
        analyzer.export_report(r, self.path("report.html"), format="html")
        self.assertIn("</html>", self.text("report.html"))
        analyzer.export_report(r, "report.json", format="json")
        json.loads(self.text("out/report.json"))


if __name__ == "__main__":
    unittest.main()
