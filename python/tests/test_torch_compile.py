"""TorchCompileAnalyzer on a stand-in for torch: what PyTorch 2 does with a model, without PyTorch."""
import json
import logging
import os
import pathlib
import random
import re
import sys
import tempfile
import types
import unittest
from unittest import mock

from fathom.errors import Error
from fathom.torch_compile import TorchCompileAnalyzer

ID = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
BREAK = ("Graph break in user code at /me/model.py:31\nGraph Break Reason: builtin: print\n"
         "User code traceback:\n  File \"/me/model.py\", line 31, in forward\n    print(x)\n")


class Clock:
    """Goes on only when somebody works, and not quite evenly; so that no test depends on the machine."""

    def __init__(self):
        self.ns = 0
        self.random = random.Random(1)

    def work(self, ms):
        self.ns += int(ms * 1e6 * self.random.uniform(1.0, 1.02))

    def read(self):
        return self.ns


clock = Clock()


def setUpModule():
    patch = mock.patch("time.perf_counter_ns", clock.read)
    patch.start()
    unittest.addModuleCleanup(patch.stop)


def log(metadata, payload=None):
    record = logging.LogRecord("torch.__trace", logging.DEBUG, "torch/_dynamo/utils.py", 1, "", (), None)
    record.metadata, record.payload = metadata, payload
    logging.getLogger("torch.__trace").handle(record)


GRAPH = """class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[8]"):
        sin: "f32[8]" = torch.ops.aten.sin.default(arg0_1)
        cos: "f32[8]" = torch.ops.aten.cos.default(sin)
        add: "f32[8]" = torch.ops.aten.add.Tensor(cos, 1)
        mm: "f32[8]" = torch.ops.aten.mm.default(add, add)
        return (mm,)
"""
CODE = """def call(args):
    arg0_1, = args
    triton_poi_fused_add_cos_sin_0.run(arg0_1, buf0, 8, grid=grid(8), stream=stream0)
    extern_kernels.mm(buf0, buf0, out=buf1)
    return (buf1, )
"""


def fake_torch(compiled_ms=1.0, logs=True, fails=(), fused=False):
    torch = types.ModuleType("torch")
    torch.__version__ = "2.6.0"
    torch.seen = []
    torch._dynamo = types.SimpleNamespace(reset=lambda: torch.seen.append("reset"))
    torch._logging = types.SimpleNamespace(structured=types.SimpleNamespace(INTERN_TABLE={"a": 1}))

    def compile(model, backend, mode="default"):
        torch.seen.append((backend, mode))
        calls = []

        def call(*args, **named):
            if not calls:
                if mode in fails:
                    raise ValueError(f"{mode} does not work\nhere")
                if logs:
                    log({"dynamo_start": {"stack": [{"line": 3, "name": "main", "filename": 0, "loc": "model(x)"}]}, **ID})
                    log({"artifact": {"name": "dynamo_graph_break_reason", "encoding": "string"}, **ID}, BREAK)
                    if fused:
                        log({"inductor_post_grad_graph": {}, **ID}, GRAPH)
                        log({"inductor_output_code": {"filename": "/tmp/x.py"}, **ID}, CODE)
                    log({"compilation_metrics": {"co_name": "forward", "co_filename": "/me/model.py", "co_firstlineno": 29,
                                                 "dynamo_cumulative_compile_time_us": 2500}, **ID})
            calls.append(args or named)
            clock.work(compiled_ms)

        return call

    torch.compile = compile
    return torch


def model(x, scale=1):
    clock.work(3.0)


class Analyze(unittest.TestCase):
    def analyze(self, torch, input=1, **options):
        with mock.patch.dict(sys.modules, {"torch": torch}):
            return TorchCompileAnalyzer("inductor", "default").analyze(model, input, **options)

    def test_figures_come_from_the_clock_and_the_logs(self):
        result = self.analyze(fake_torch(), iterations=20)
        self.assertGreater(result.speedup, 1.5)
        self.assertEqual(result.verdict, "faster", result)
        self.assertLess(result.change_percent_high, 0)
        self.assertEqual(result.compile_time_ms, 2.5)
        self.assertEqual(result.total_graph_breaks, 1)
        self.assertEqual(result.graph_breaks[0].reason, "builtin: print")
        self.assertIn("print", result.graph_breaks[0].suggestion)
        self.assertEqual(result.graph_breaks[0].where, "at model.py:31")
        self.assertIsNone(result.fusion_ratio)
        self.assertEqual(len(result.recommendations), 1)

    def test_fusion(self):
        result = self.analyze(fake_torch(fused=True), iterations=1)
        self.assertEqual((result.ops_before_fusion, result.ops_after_fusion, result.fusion_ratio), (4, 2, 2.0))

    def test_no_program_is_needed(self):
        with mock.patch.dict(os.environ, {"PATH": "", "FATHOM_PROGRAM": "/nowhere"}):
            self.assertEqual(self.analyze(fake_torch(), iterations=20).verdict, "faster")

    def test_a_model_that_gets_slower_is_said_to_be(self):
        result = self.analyze(fake_torch(compiled_ms=6.0), iterations=20)
        self.assertLess(result.speedup, 1)
        self.assertEqual(result.verdict, "slower", result)
        self.assertIn("without torch.compile", result.recommendations[0])

    def test_without_logs_what_they_would_tell_is_none(self):
        result = self.analyze(fake_torch(logs=False), iterations=2)
        self.assertIsNone(result.compile_time_ms)
        self.assertIsNone(result.total_graph_breaks)
        self.assertIsNotNone(result.first_call_ms)

    def test_one_iteration_proves_nothing(self):
        self.assertEqual(self.analyze(fake_torch(), iterations=1).verdict, "inconclusive")

    def test_inputs_are_one_argument_several_or_named_ones(self):
        for input in (1, (1, 2), {"x": 1, "scale": 2}):
            self.assertIsNotNone(self.analyze(fake_torch(), input, iterations=1).speedup)

    def test_torch_logs_as_before_afterwards(self):
        logger = logging.getLogger("torch.__trace")
        before = (logger.level, list(logger.handlers))
        torch = fake_torch()
        self.analyze(torch, iterations=1)
        self.assertEqual((logger.level, list(logger.handlers)), before)
        self.assertEqual(torch._logging.structured.INTERN_TABLE, {})
        self.assertEqual(torch.seen, ["reset", ("inductor", "default")])


class Modes(unittest.TestCase):
    def test_each_mode_has_its_result_and_a_failing_one_its_error(self):
        with mock.patch.dict(sys.modules, {"torch": fake_torch(fails=["max-autotune"])}):
            results = TorchCompileAnalyzer().compare_modes(model, 1, iterations=2)
        self.assertEqual(list(results), ["default", "reduce-overhead", "max-autotune"])
        self.assertEqual(results["max-autotune"].error, "ValueError: max-autotune does not work")
        self.assertIsNone(results["max-autotune"].speedup)
        self.assertIsNotNone(results["reduce-overhead"].speedup)


class Reports(unittest.TestCase):
    def test_json_and_page(self):
        with mock.patch.dict(sys.modules, {"torch": fake_torch()}), tempfile.TemporaryDirectory() as folder:
            analyzer = TorchCompileAnalyzer()
            result = analyzer.analyze(model, 1, iterations=2)
            analyzer.export_report(result, os.path.join(folder, "report.json"))
            written = json.loads(pathlib.Path(folder, "report.json").read_text())
            self.assertEqual(written["total_graph_breaks"], 1)
            self.assertEqual(written["graph_breaks"][0]["count"], 1)
            self.assertNotIn("_folder", written)
            analyzer.export_report(result, os.path.join(folder, "report.html"))
            self.assertIn("<!doctype html>", pathlib.Path(folder, "report.html").read_text()[:200].lower())
            with self.assertRaisesRegex(ValueError, "format 'pdf'"):
                analyzer.export_report(result, "report.pdf", "pdf")


class WithoutTorch(unittest.TestCase):
    def test_one_clear_line(self):
        with mock.patch.dict(sys.modules, {"torch": None}):
            with self.assertRaisesRegex(Error, "^TorchCompileAnalyzer needs PyTorch 2.2 or later, and there is no module 'torch'$"):
                TorchCompileAnalyzer().analyze(model, 1)
            with self.assertRaisesRegex(Error, "no module 'torch'"):
                TorchCompileAnalyzer().compare_modes(model, 1)

    def test_an_old_one_is_named(self):
        for version in ("1.13.1", "2.0.0", "2.1.2+cu118"):  # some of which have a torch.compile
            old = fake_torch()
            old.__version__ = version
            with mock.patch.dict(sys.modules, {"torch": old}):
                with self.assertRaisesRegex(Error, f"^TorchCompileAnalyzer needs PyTorch 2.2 or later, and this is {re.escape(version)}$"):
                    TorchCompileAnalyzer().analyze(model, 1)


if __name__ == "__main__":
    unittest.main()
