"""Traces as columns, and what the commands say of them."""
import gc
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
from pathlib import Path
from unittest import mock

import fathom

ROOT = Path(os.environ["FATHOM_SOURCE_DIR"])
GOLDEN = ROOT / "tests" / "golden"
TRAINING = GOLDEN / "training_step" / "trace.json"
HAS_NUMPY = importlib.util.find_spec("numpy") is not None


def command(*arguments):
    said = subprocess.run([sys.executable, "-m", "fathom", *map(str, arguments)], capture_output=True, check=True)
    return json.loads(said.stdout)


class Columns(unittest.TestCase):
    def setUp(self):
        self.trace = fathom.read(TRAINING)

    @unittest.skipUnless(HAS_NUMPY, "no NumPy")
    def test_are_views_of_the_trace(self):
        import numpy

        spans = self.trace.spans
        for name in spans.columns:
            column = getattr(spans, name)
            self.assertEqual(len(column), len(spans))
            self.assertFalse(column.flags.writeable)
            self.assertFalse(column.flags.owndata)
        self.assertEqual(spans.duration_ns.dtype, numpy.int64)
        self.assertEqual(spans.duration_ns.ctypes.data, spans.duration_ns.ctypes.data)
        self.assertTrue((spans.duration_ns >= 0).all())
        self.assertEqual(set(spans.to_dict()), set(spans.columns))
        names = spans.name
        self.assertEqual(names[0], self.trace.names[spans.name_id[0]])

    @unittest.skipUnless(HAS_NUMPY, "no NumPy")
    def test_outlive_the_trace(self):
        column = fathom.read(TRAINING).spans.start_ns
        total = int(self.trace.spans.start_ns.sum())
        gc.collect()
        self.assertEqual(int(column.sum()), total)

    @unittest.skipUnless(HAS_NUMPY, "no NumPy")
    def test_add_up_to_what_the_report_says(self):
        kernels = self.trace.spans.where(kind="kernel")
        report = self.trace.hta(all_steps=True)
        self.assertGreater(int(kernels.sum()), 0)
        mine = int(self.trace.spans.duration_ns[kernels].sum())
        theirs = sum(each["sum_ns"] for rank in report["ranks"] for each in rank["kernels"] if each["type"] != "memory")
        self.assertEqual(mine, theirs)
        with self.assertRaisesRegex(ValueError, "unknown kind"):
            self.trace.spans.where(kind="nothing")
        with self.assertRaisesRegex(AttributeError, "duration_ns"):
            self.trace.spans.nothing

    def test_without_numpy_are_memoryviews(self):
        code = f"""if 1:
            import sys
            sys.modules["numpy"] = None
            import fathom
            trace = fathom.read({str(TRAINING)!r})
            column = trace.spans.duration_ns
            assert isinstance(column, memoryview) and column.format == "q" and column.readonly
            del trace
            print(sum(column))"""
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(int(ran.stdout), sum(memoryview(self.trace.spans._columns["duration_ns"])))

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "no pandas")
    def test_pandas_there_and_back(self):
        frame = self.trace.spans.to_pandas()
        self.assertEqual(len(frame), len(self.trace.spans))
        self.assertEqual(int(frame["duration_ns"].sum()), int(self.trace.spans.duration_ns.sum()))
        by_name = frame[frame["kind"] == "kernel"].groupby("name", observed=True)["duration_ns"].sum()
        self.assertEqual(int(by_name.sum()), int(self.trace.spans.duration_ns[self.trace.spans.where(kind="kernel")].sum()))
        self.assertEqual(list(frame["name"][:5].astype(str)), list(self.trace.spans.name[:5]))

    @unittest.skipUnless(importlib.util.find_spec("polars"), "no polars")
    def test_polars_there_and_back(self):
        frame = self.trace.spans.to_polars()
        self.assertEqual(frame["duration_ns"].sum(), int(self.trace.spans.duration_ns.sum()))
        self.assertEqual(frame["name"][0], self.trace.spans.name[0])

    def test_tracks_counters_and_arguments(self):
        tracks = self.trace.tracks
        self.assertEqual(sum(each.span_count for each in tracks), len(self.trace.spans))
        self.assertTrue(any(each.kind == "gpu_stream" for each in tracks))
        self.assertIn("kernel", self.trace.kinds)
        self.assertIsInstance(self.trace.args(0), dict)
        with self.assertRaises(IndexError):
            self.trace.args(10**8)
        self.assertIsInstance(self.trace.counters, list)
        self.assertEqual(len(self.trace.instants), len(self.trace.instants.to_dict()["time_ns"]))
        self.assertIn("spans", repr(self.trace))


class Saying(unittest.TestCase):
    def setUp(self):
        self.trace = fathom.read(str(TRAINING))

    def test_the_fields_of_the_commands(self):
        path = TRAINING
        self.assertEqual(dict(self.trace.report()), command("report", path, "--json"))
        self.assertEqual(dict(self.trace.hta()), command("hta", path, "--json"))
        self.assertEqual(dict(self.trace.timeline()), command("timeline", path, "--json"))
        self.assertEqual(dict(self.trace.memory()), command("memory", path, "--json"))
        self.assertEqual(dict(self.trace.suggest()), command("suggest", path, "--top", "0", "--json"))
        self.assertEqual(dict(self.trace.flame()), command("flame", path, "--json"))
        self.assertEqual(dict(self.trace.flame("gpu", 0, 7, True)),
                         command("flame", path, "--json", "--weight", "gpu", "--min-duration-us", "0", "--max-depth", "7",
                                 "--group-small-kernels"))

    def test_fields_are_attributes(self):
        report = self.trace.hta()
        self.assertEqual(report.gpu_idle_time_pct, report["gpu_idle_time_pct"])
        self.assertEqual(report.top_kernels[0].name, report["top_kernels"][0]["name"])
        with self.assertRaisesRegex(AttributeError, "gpu_idle_time_pct"):
            report.nothing
        self.assertTrue(str(report).strip())
        self.assertNotIn("{", str(report)[:20])

    def test_notebooks_show_the_page_and_a_table(self):
        html = self.trace.report()._repr_html_()
        self.assertIn("<iframe srcdoc=", html)
        self.assertIn("<table>", html)
        self.assertIn("</html>", self.trace.page())
        for report in (self.trace.flame(), self.trace.hta(), self.trace.timeline()):
            self.assertIn("</html>", report.to_html())

    def test_writes_other_formats(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.pftrace")
            self.trace.write(path)
            self.assertEqual(len(fathom.read(path).spans), len(self.trace.spans))
            with self.assertRaises(fathom.Error):
                self.trace.write(os.path.join(folder, "trace.unknown"))

    def test_ranks_of_a_job(self):
        folder = GOLDEN / "two_ranks"
        found = fathom.hta([folder / "rank0.json", folder / "rank1.json"])
        self.assertGreaterEqual(len(found["ranks"]), 2)
        page = found.to_html()
        self.assertIn("</html>", page)
        self.assertIn("timeline_1", page)  # those of all ranks are in it

    def test_what_is_wrong_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            wrong = os.path.join(folder, "wrong.json")
            with open(wrong, "w") as file:
                file.write("this is no trace")
            for path, kind in ((os.path.join(folder, "none.json"), FileNotFoundError), (folder, OSError), (wrong, ValueError)):
                with self.assertRaises(kind) as caught:
                    fathom.read(path)
                self.assertIsInstance(caught.exception, fathom.Error)
                self.assertEqual(len(str(caught.exception).splitlines()), 1)
                self.assertEqual(caught.exception.where, path)
        with self.assertRaisesRegex(ValueError, "unknown weight"):
            self.trace.flame("colour")


class LongWork(unittest.TestCase):
    """On a trace that takes a second or so."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "large.json")
        with open(cls.path, "w") as file:
            file.write('{"traceEvents":[')
            event = '{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":%d,"ts":%d,"dur":3,"args":{"External id":%d}},\n'
            for i in range(400_000):
                file.write(event % (i % 4, i * 5, i))
            file.write('{"ph":"X","cat":"cpu_op","name":"last","pid":1,"tid":1,"ts":9999999,"dur":1}]}')

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_other_threads_go_on(self):
        ticks, done = [], threading.Event()

        def counts():
            while not done.wait(0.001):
                ticks.append(1)

        thread = threading.Thread(target=counts)
        thread.start()
        trace = fathom.read(self.path)
        done.set()
        thread.join()
        self.assertEqual(len(trace.spans), 400_001)
        self.assertGreater(len(ticks), 3)

    def run_beside_a_read_without_end(self, code):
        """`code` finds a `fifo` that is read until `writer` is closed."""
        with tempfile.TemporaryDirectory() as folder:
            start = ("import atexit, os, signal, sys, threading, time, fathom\n"
                     f"fifo = {os.path.join(folder, 'fifo')!r}\n"
                     "os.mkfifo(fifo)\n"
                     "writer = os.open(fifo, os.O_RDWR)\n")
            return subprocess.run([sys.executable, "-c", start + textwrap.dedent(code)], capture_output=True, text=True, timeout=60)

    def test_ctrl_c_is_heard(self):
        ran = self.run_beside_a_read_without_end("""
            began = time.monotonic()
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                fathom.read(fifo)
                print("not heard")
            except KeyboardInterrupt:
                print("heard", time.monotonic() - began < 10)
            os.close(writer)
            """)
        self.assertEqual((ran.stdout.strip(), ran.returncode), ("heard True", 0), ran.stderr)

    def test_a_child_forked_meanwhile_waits_for_nothing_at_its_end(self):
        ran = self.run_beside_a_read_without_end("""
            def forks():
                time.sleep(0.05)
                child = os.fork()
                if child == 0:
                    signal.alarm(20)
                    with fathom.scope("child"):
                        pass
                    atexit._run_exitfuncs()
                    os._exit(0)
                print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                os.close(writer)

            threading.Thread(target=forks).start()
            try:
                fathom.read(fifo)
            except fathom.Error:
                print("an empty file")
            """)
        self.assertEqual((ran.stdout.split("\n")[:2], ran.returncode), (["child 0", "an empty file"], 0), ran.stderr)


class Program(unittest.TestCase):
    def test_python_m_fathom_is_the_program(self):
        ran = subprocess.run([sys.executable, "-m", "fathom", "--version"], capture_output=True, text=True, check=True)
        self.assertIn(fathom.__version__, ran.stdout)
        ran = subprocess.run([sys.executable, "-m", "fathom", "explode"], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 2)
        for words in (["profile", "--version-of-nothing"], ["compile", "nowhere.log"]):
            ran = subprocess.run([sys.executable, "-m", "fathom", *words], capture_output=True, text=True)
            self.assertEqual((ran.returncode, len(ran.stderr.strip().splitlines())), (2, 1), ran.stderr)

    def test_it_profiles_and_reads_compile_logs(self):
        with tempfile.TemporaryDirectory() as folder:
            out, run = os.path.join(folder, "session.json"), os.path.join(folder, "run.pftrace")
            compiled = os.path.join(folder, "compile.json")
            script = "import fathom\nfor _ in range(3):\n    with fathom.scope('work'): pass"
            subprocess.run([sys.executable, "-m", "fathom", "profile", "-o", run, "--json", out, "--", sys.executable, "-c", script],
                           check=True, capture_output=True)
            self.assertEqual(list(fathom.read(run).spans.name).count("work"), 3)
            with open(out) as file:
                self.assertIn("work", [each["operation"] for each in json.load(file)["bottlenecks"]])
            log = os.path.join(os.environ["FATHOM_SOURCE_DIR"], "fuzz", "corpus", "compile_log", "break_and_recompile.log")
            subprocess.run([sys.executable, "-m", "fathom", "compile", log, "--json", compiled], check=True,
                           capture_output=True)
            with open(compiled) as file:
                self.assertEqual(json.load(file), dict(fathom.compile_logs(log)))

    def test_where_it_is_missing(self):
        from fathom.__main__ import program

        with mock.patch.dict(os.environ, {"PATH": "", "FATHOM_PROGRAM": ""}), mock.patch("os.path.isfile", lambda path: False):
            with self.assertRaisesRegex(fathom.Error, "not installed"):
                program()


class CompileLogs(unittest.TestCase):
    LOG = os.path.join(os.environ["FATHOM_SOURCE_DIR"], "fuzz", "corpus", "compile_log", "break_and_recompile.log")

    def test_as_a_report(self):
        logs = fathom.compile_logs(self.LOG)
        self.assertEqual(logs.graph_breaks, len(logs.break_reasons))
        self.assertIn("graph break", str(logs))
        self.assertIn("</html>", logs.to_html())
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(fathom.Error, "no log of torch.compile in this folder"):
                fathom.compile_logs(folder)
            shutil.copy(self.LOG, os.path.join(folder, "dedicated_log_torch_trace_rank_0.log"))
            self.assertEqual(fathom.compile_logs(folder)["compilations"], logs["compilations"])

    def test_what_they_suggest_is_behind_what_the_trace_does(self):
        trace = os.path.join(os.environ["FATHOM_SOURCE_DIR"], "tests", "golden", "training_step", "trace.json")
        alone = fathom.ProfilerOptimizer(trace).get_suggestions(1000)
        both = fathom.ProfilerOptimizer(trace, compile=self.LOG).get_suggestions(1000)
        self.assertEqual(both[:len(alone)], alone)
        self.assertEqual({each.rule for each in both[len(alone):]}, {"compile"})


if __name__ == "__main__":
    unittest.main()
