import subprocess
import sys
import unittest


# The names that users know, by where they import them from.
SHEET = {
    "fathom": ["GPUProfiler", "get_profiler", "ProfileEntry", "ProfileSummary", "is_cuda_available", "compare_profiling_runs",
               "OperationComparison", "ProfilerOptimizer", "OptimizationSuggestion", "profile_function", "read",
               "from_profiler", "TorchCompileAnalyzer"],
    "fathom.profiling": ["UnifiedProfiler", "ProfileSession", "MemoryProfiler", "FlameGraphGenerator", "TimelineGenerator",
                         "HTAAnalyzer", "TorchCompileAnalyzer"],
    "fathom.monitor": ["GPUProfiler", "GPUProfilerConfig", "ProfilingMode", "ProfilingLevel", "GPUDevice", "GPUSnapshot",
                       "GPUProfilingSession"],
    "fathom.runtime": ["UnifiedCatalyticLattice", "get_memory_monitor", "create_batch"],
}


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


class Import(unittest.TestCase):
    def test_tells_its_version(self):
        self.assertRegex(run("import fathom; print(fathom.__version__)"), r"^\d+\.\d+\.\d+$")

    def test_imports_nothing_heavy(self):
        heavy = "[m for m in ('numpy', 'pandas', 'polars', 'torch', 'cupy', 'asyncio') if m in sys.modules]"
        self.assertEqual(run(f"import fathom, sys; print({heavy})"), "[]")
        for module in ("profiling", "runtime", "profiler", "trace", "comparison", "optimizer", "torch_compile"):
            self.assertEqual(run(f"import fathom.{module}, sys; print({heavy})"), "[]", module)
        self.assertEqual(run(f"import fathom.monitor, sys; print({heavy})"), "['asyncio']")

    def test_every_name_of_the_sheet_comes_from_its_module(self):
        for module, names in SHEET.items():
            imports = f"from {module} import {', '.join(names)}"
            self.assertEqual(run(f"{imports}; print([each.__name__ for each in ({', '.join(names)},)])"), str(names), module)

    def test_everything_it_lists_is_there(self):
        names = "[n for n in fathom.__all__ if n not in fathom._MODULES]"
        self.assertEqual(run(f"import fathom; print(all(hasattr(fathom, n) for n in {names}))"), "True")
        listed = "set(fathom.__all__) >= set(fathom._HOMES) | fathom._MODULES"
        self.assertEqual(run(f"import fathom; print({listed})"), "True")


if __name__ == "__main__":
    unittest.main()
