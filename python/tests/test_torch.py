"""With PyTorch, where it is installed: Debian's 1.13 on the CPU is enough."""
import importlib.util
import os
import tempfile
import unittest

import fathom


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
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True) as cls.profile:
            for _ in range(3):
                with record_function("forward pass"):
                    cls.model(cls.input).sum().backward()

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

    def test_flame_and_timeline_take_it_too(self):
        from fathom.profiling import FlameGraphGenerator, TimelineGenerator

        data = FlameGraphGenerator(min_duration_us=0).from_profiler(self.profile)
        self.assertIn("aten::linear", str(dict(data)))
        self.assertGreater(TimelineGenerator().from_profiler(self.profile).cpu_active_time_us, 0)

    def test_memory_of_its_allocator(self):
        found = fathom.from_profiler(self.profile).memory()
        self.assertTrue(found["devices"])

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

    def test_what_is_no_profiler_is_refused(self):
        with self.assertRaises(TypeError):
            fathom.from_profiler(3)


if __name__ == "__main__":
    unittest.main()
