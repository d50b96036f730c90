"""`fathom profile --python`: functions of Python programs, sampled from outside."""
import collections
import glob
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["FATHOM_PROGRAM"]
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable

BUSY = """
import time
def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
"""

WORK = BUSY + """
class Net:
    def forward(self):
        spin(0.4)
def step(net):
    net.forward()
def main():
    step(Net())
main()
"""

Function = collections.namedtuple("Function", "name pid tid start end")


class Recording:
    """A script under `fathom profile --python`, and the Python functions of its run."""

    def __init__(self, folder, script, python=PYTHON, command=None, options=("--python",)):
        path = pathlib.Path(folder, "script.py")
        path.write_text(script)
        self.run_file = os.path.join(folder, "run.pftrace")
        self.run = subprocess.run(
            [PROGRAM, "profile", *options, "-o", self.run_file, "--", *(command or [python, str(path)])],
            capture_output=True, text=True, cwd=folder)

    def functions(self):
        chrome = self.run_file + ".json"
        pathlib.Path(chrome).unlink(missing_ok=True)
        subprocess.run([PROGRAM, "convert", self.run_file, chrome], check=True, capture_output=True)
        document = json.loads(pathlib.Path(chrome).read_text())
        return [Function(event["name"], event["pid"], event["tid"], event["ts"], event["ts"] + event["dur"])
                for event in document["traceEvents"] if event.get("ph") == "X" and event.get("cat") in ("python", "python_function")]

    def names(self):
        return {re.sub(r"\(\d+\)", "", function.name) for function in self.functions()}


class Sampling(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def record(self, script, **how):
        recording = Recording(self.folder, script, **how)
        self.assertEqual(recording.run.returncode, 0, recording.run.stderr)
        return recording

    def test_functions_stand_in_those_that_called_them(self):
        functions = {}
        for function in self.record(WORK).functions():
            functions.setdefault(function.name, function)
        self.assertIn("script.py(13): main", functions)
        chain = [functions[name] for name in ("script.py(1): <module>", "script.py(13): main", "script.py(11): step", "script.py(3): spin")]
        for outer, inner in zip(chain, chain[1:]):
            self.assertLessEqual(outer.start, inner.start)
            self.assertGreaterEqual(outer.end, inner.end)
        self.assertTrue(any(name.endswith("forward") for name in functions))

    def test_the_flame_graph_has_them(self):
        run = self.record(WORK).run_file
        folded = subprocess.run([PROGRAM, "flame", run, "--folded"], capture_output=True, text=True)
        self.assertRegex(folded.stdout, r"<module>;.*main;.*step;.*forward;.*spin")

    def test_the_program_notices_nothing(self):
        script = ("import json, os, sys, threading\n" + BUSY + "spin(0.3)\n"
                  "print(json.dumps([sorted(sys.modules), sys.path, threading.active_count(), len(os.listdir('/proc/self/task')),"
                  " sorted(name for name in os.environ if 'PYTHON' in name), sys.gettrace() is None, sys.getprofile() is None]))")
        path = pathlib.Path(self.folder, "script.py")
        path.write_text(script)
        alone = subprocess.run([PYTHON, str(path)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(json.loads(self.record(script).run.stdout), json.loads(alone.stdout))

    def test_exit_status_and_output_are_the_programs_own(self):
        recording = Recording(self.folder, "import sys\nprint('out')\nsys.exit(7)")
        self.assertEqual((recording.run.returncode, recording.run.stdout), (7, "out\n"))

    def test_each_thread_has_its_own_functions(self):
        script = BUSY + ("import threading\ndef first(): spin(0.4)\ndef second(): spin(0.4)\n"
                         "threads = [threading.Thread(target=f) for f in (first, second)]\n"
                         "[t.start() for t in threads]; [t.join() for t in threads]\n")
        threads = {}
        for function in self.record(script).functions():
            for name in ("first", "second"):
                if function.name.endswith(": " + name):
                    threads[name] = function.tid
        self.assertEqual(set(threads), {"first", "second"})
        self.assertNotEqual(threads["first"], threads["second"])

    def test_children_are_sampled_too(self):
        script = BUSY + ("import os, subprocess, sys\ndef in_fork(): spin(0.4)\n"
                         "child = os.fork()\nif child == 0:\n    in_fork()\n    os._exit(0)\nos.waitpid(child, 0)\n"
                         "subprocess.run([sys.executable, '-I', '-S', '-c', %r])\n" % (BUSY + "def in_program(): spin(0.4)\nin_program()"))
        pids = {}
        for function in self.record(script).functions():
            for name in ("in_fork", "in_program"):
                if function.name.endswith(": " + name):
                    pids[name] = function.pid
        self.assertEqual(set(pids), {"in_fork", "in_program"})
        self.assertNotEqual(pids["in_fork"], pids["in_program"])

    def test_a_crash_keeps_what_was_recorded(self):
        script = WORK + "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
        recording = Recording(self.folder, script)
        self.assertEqual(recording.run.returncode, -signal.SIGKILL)
        self.assertIn("script.py: step", recording.names())

    def test_a_shell_that_becomes_python_is_found(self):
        path = os.path.join(self.folder, "script.py")
        recording = self.record(WORK, command=["sh", "-c", f"sleep 0.15; exec {PYTHON} '{path}'"])
        self.assertIn("script.py: step", recording.names())

    def test_names_that_are_not_ascii(self):
        self.assertIn("script.py: größe", self.record(BUSY + "def größe(): spin(0.3)\ngröße()").names())

    def test_deep_recursion(self):
        self.assertIn("script.py: down", self.record(
            BUSY + "def down(n):\n    if n: down(n - 1)\n    else: spin(0.3)\ndown(300)").names())

    def test_without_the_option_nothing_is_sampled(self):
        self.assertEqual(self.record(WORK, options=()).functions(), [])

    def test_a_program_without_python_is_said_to_have_none(self):
        recording = self.record("", command=["sleep", "0.2"])
        self.assertIn("had no Python interpreter", recording.run.stderr)

    def test_every_version_that_is_here(self):
        pythons = os.environ.get("FATHOM_PYTHONS", "").split() or glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))
        sampled = []
        for python in pythons:
            version = subprocess.run([python, "-c", "import sys; print(sys.version_info[1])"], capture_output=True, text=True)
            minor = int(version.stdout or 0)
            with self.subTest(python):
                recording = self.record(WORK, python=python)
                if 8 <= minor <= 13:
                    self.assertIn("script.py: step", recording.names())
                    sampled.append(minor)
                else:
                    self.assertIn(f"Python 3.{minor} was not sampled", recording.run.stderr)
        if not sampled:
            self.skipTest("no other versions of Python")


if __name__ == "__main__":
    unittest.main()
