"""The examples in docstrings and in docs/python.md run as they are; types hold under mypy --strict."""
import doctest
import importlib
import importlib.util
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import fathom

ROOT = Path(os.environ["FATHOM_SOURCE_DIR"])


def load_tests(loader, tests, pattern):
    flags = doctest.ELLIPSIS
    for found in pkgutil.walk_packages(fathom.__path__, "fathom."):
        if found.name != "fathom.__main__" and not found.name.startswith("fathom._"):
            tests.addTests(doctest.DocTestSuite(importlib.import_module(found.name), optionflags=flags, setUp=fresh,
                                                  tearDown=back))
    for module in (fathom, importlib.import_module("fathom._scopes")):
        tests.addTests(doctest.DocTestSuite(module, optionflags=flags, setUp=fresh, tearDown=back))
    return tests


def fresh(test):
    """The examples find these files where they run."""
    test.folder, test.before = tempfile.TemporaryDirectory(), os.getcwd()
    os.chdir(test.folder.name)
    shutil.copy(ROOT / "tests" / "golden" / "training_step" / "trace.json", "trace.json")
    shutil.copy(ROOT / "fuzz" / "corpus" / "compile_log" / "break_and_recompile.log", "torch_trace.log")
    profiler = fathom.get_profiler(enabled=True)
    profiler.reset()
    with fathom.scope("load"):
        pass
    profiler.export_json("profile.json")
    profiler.reset()


def back(test):
    os.chdir(test.before)
    test.folder.cleanup()


class Docs(unittest.TestCase):
    def test_the_tour_runs(self):
        blocks = (ROOT / "docs" / "python.md").read_text().split("```python\n")[1:]
        code = "\n".join(block.split("```")[0] for block in blocks)
        with tempfile.TemporaryDirectory() as folder:
            trace = ROOT / "tests" / "golden" / "training_step" / "trace.json"
            shutil.copy(trace, os.path.join(folder, "trace.json"))
            ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
            self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_the_notebook_runs(self):
        import json

        notebook = json.loads((ROOT / "examples" / "trace.ipynb").read_text())
        code = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(ROOT / "tests" / "golden" / "training_step" / "trace.json", os.path.join(folder, "trace.json"))
            ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
            self.assertEqual(ran.returncode, 0, ran.stderr)


@unittest.skipUnless(importlib.util.find_spec("mypy"), "no mypy")
class Types(unittest.TestCase):
    def test_a_users_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "user.py")
            with open(path, "w") as file:
                file.write(textwrap.dedent("""\
                    import asyncio
                    import fathom
                    from fathom.monitor import GPUProfiler, GPUProfilerConfig
                    from fathom.profiling import (FlameGraphGenerator, HTAAnalyzer, MemoryProfiler, TimelineGenerator,
                                                  TorchCompileAnalyzer, UnifiedProfiler)
                    from fathom.runtime import UnifiedCatalyticLattice


                    @fathom.profile_function
                    def half(x: int) -> float:
                        return x / 2


                    @fathom.profile_function(operation="twice")
                    def twice(x: int) -> int:
                        return 2 * x


                    @fathom.profile_function("later")
                    async def later(x: int) -> str:
                        return str(x)


                    reveal_type(half)
                    reveal_type(twice)
                    reveal_type(later)
                    with fathom.scope("load", size=3):
                        fathom.push("a")
                        fathom.pop()
                    profiler: fathom.GPUProfiler = fathom.get_profiler()
                    with profiler.profile("x", device="gpu", size=3):
                        count: int = profiler.get_summary()["x"].call_count
                    trace = fathom.read("trace.json")
                    rows = trace.spans.where(kind="kernel")
                    reveal_type(trace.spans.duration_ns)
                    idle: float = trace.hta()["gpu_idle_time_pct"]
                    changes = fathom.compare_profiling_runs("a.json", ["b.json"]).get_regressions(3)
                    names: list[str] = [each.operation for each in changes]
                    session = UnifiedProfiler("out").profile_function(half, 3, iterations=2)
                    total: float | None = session.total_time_ms
                    memory = MemoryProfiler(sample_interval_ms=1.0, record_history=True)
                    with memory.track("load"):
                        levels: list[float] = [each["allocated_mb"] for each in memory.get_timeline()]
                    peak: float = memory.get_peak_analysis()["peak_allocated_mb"]
                    flame = FlameGraphGenerator(min_duration_us=10.0, max_depth=50, group_small_kernels=True)
                    written: str = flame.export(flame.from_chrome_trace("trace.json"), "flame.html", format="html")
                    timeline = TimelineGenerator().from_chrome_trace("trace.json")
                    share: float = timeline.cpu_active_time_us / timeline.total_time_us
                    gpu: float | None = timeline.gpu_active_time_us
                    hta = HTAAnalyzer("out")
                    kernels: list[str] = [each.name for each in hta.analyze_trace("trace.json").top_kernels]
                    optimizer = fathom.ProfilerOptimizer("trace.json", compile="logs")
                    advice: list[str] = [each.description for each in optimizer.get_suggestions(top_n=3)]
                    compiled = TorchCompileAnalyzer(backend="inductor", mode="default").analyze(half, 1, warmup=1)
                    faster: float | None = compiled.speedup
                    breaks: list[str] = [each.reason for each in compiled.graph_breaks]
                    logs = fathom.compile_logs("logs")
                    recorded: bool = fathom.record_opencl()
                    path, ms = UnifiedCatalyticLattice(2, 4).find_shortest_path(0, 3)


                    async def watch() -> int:
                        async with GPUProfiler(GPUProfilerConfig(demo=True)) as watching:
                            return len((await watching.get_gpu_status()).devices)


                    asyncio.run(watch())
                    """))
            said = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, path],
                                  capture_output=True, text=True).stdout
        self.assertIn("Success", said, said)
        self.assertIn("ndarray" if importlib.util.find_spec("numpy") else "Any", said)
        for function in ("def (x: builtins.int) -> builtins.float", "def (x: builtins.int) -> builtins.int",
                         "def (x: builtins.int) -> typing.Coroutine[Any, Any, builtins.str]"):
            self.assertIn(f'Revealed type is "{function}"', said)


if __name__ == "__main__":
    unittest.main()
