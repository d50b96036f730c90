"""The rows of fathom.runtime."""
import contextlib
import importlib.util
import io
import subprocess
import sys
import threading
import unittest

import fathom
from fathom.runtime import UnifiedCatalyticLattice, create_batch, get_memory_monitor, route

HAS_NUMPY = importlib.util.find_spec("numpy") is not None


class Lattice(unittest.TestCase):
    def setUp(self):
        self.lattice = UnifiedCatalyticLattice(dimensions=3, size=5, enable_gpu=False, enable_smart_routing=True)

    def test_paths(self):
        self.lattice.build_lattice()
        path, ms = self.lattice.find_shortest_path(0, 124)
        self.assertEqual((len(path), path[0], path[-1]), (13, 0, 124))
        self.assertGreaterEqual(ms, 0)
        path, _ = self.lattice.find_shortest_path((0, 0, 0), (4, 0, 0), search="a_star")
        self.assertEqual([sum(each) for each in path], [0, 1, 2, 3, 4])
        with self.assertRaises(fathom.Error):
            self.lattice.find_shortest_path(0, 10_000)
        with self.assertRaises(ValueError):
            self.lattice.find_shortest_path(0, 1, search="fast")
        walled = UnifiedCatalyticLattice(1, 3, enable_gpu=False, obstacles=[1])
        self.assertIsNone(walled.find_shortest_path(0, 2)[0])

    def test_structure(self):
        found = self.lattice.analyze_structure()
        self.assertEqual((found["nodes"], found["edges"], found["components"]), (125, 300, 1))

    def test_what_is_too_large_is_refused_in_one_line(self):
        with self.assertRaises(fathom.Error) as caught:
            UnifiedCatalyticLattice(9, 1000, enable_gpu=False).build_lattice()
        self.assertEqual(len(str(caught.exception).splitlines()), 1)

    @unittest.skipUnless(HAS_NUMPY, "no NumPy")
    def test_xor_twice_is_as_if_never(self):
        import numpy

        for array in (numpy.arange(1000, dtype=numpy.int64), numpy.arange(7, dtype=numpy.uint8), numpy.eye(3, dtype=numpy.float32)):
            once = self.lattice.xor_transform(array)
            self.assertEqual((once.shape, once.dtype), (array.shape, array.dtype))
            self.assertFalse((once == array).all())
            self.assertTrue((self.lattice.xor_transform(once) == array).all())
            with self.subTest("a part of a larger array"):
                part = numpy.asfortranarray(numpy.resize(array, (4, 6)))[1:, ::2]
                self.assertTrue((self.lattice.xor_transform(self.lattice.xor_transform(part)) == part).all())
        self.assertEqual(self.lattice.xor_transform(self.lattice.xor_transform(b"12345678")), b"12345678")
        self.assertNotEqual(self.lattice.xor_transform(b"12345678", key=1), self.lattice.xor_transform(b"12345678"))

    def test_threads_may_share_a_lattice(self):
        data = bytes(4000)
        expected = {key: self.lattice.xor_transform(data, key) for key in range(4)}
        wrong = []

        def work(key):
            for _ in range(300):
                if self.lattice.xor_transform(data, key) != expected[key]:
                    wrong.append(key)
                if create_batch([self.lattice]).batch_xor_transform([data], key) != [expected[key]]:
                    wrong.append(key)

        threads = [threading.Thread(target=work, args=(key,)) for key in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_ctrl_c_is_heard(self):
        code = """if 1:
            import os, signal, threading
            from fathom.runtime import UnifiedCatalyticLattice, create_batch
            batch = create_batch([UnifiedCatalyticLattice(1, 2, enable_gpu=False)])
            gone = threading.Event()
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                batch.execute_parallel([gone.wait] * 3)
                print("not heard")
            except KeyboardInterrupt:
                print("heard")
            gone.set()"""
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual((ran.stdout.strip(), ran.returncode), ("heard", 0), ran.stderr)

    @unittest.skipUnless(HAS_NUMPY, "no NumPy")
    def test_batches_say_the_same_as_one_by_one(self):
        import numpy

        lattices = [self.lattice, UnifiedCatalyticLattice(2, 9, enable_gpu=False, enable_smart_routing=False)]
        arrays = [numpy.arange(50 * i, dtype=numpy.uint32) for i in range(1, 40)]
        batch = create_batch(lattices, max_batch_size=16)
        for i, (before, after) in enumerate(zip(arrays, batch.batch_xor_transform(arrays))):
            self.assertTrue((after == lattices[i % 2].xor_transform(before)).all())
        self.assertLess(batch.calls, len(arrays))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            batch.print_stats()
        self.assertIn("39 items", out.getvalue())

    def test_functions_in_parallel(self):
        def fails():
            raise KeyError("no")

        results = create_batch([self.lattice]).execute_parallel([lambda: 1, fails, lambda: "three"])
        self.assertEqual((results[0], results[2]), (1, "three"))
        self.assertIsInstance(results[1], KeyError)


class Memory(unittest.TestCase):
    def test_knows_what_fits(self):
        monitor = get_memory_monitor()
        self.assertIs(monitor, get_memory_monitor())
        self.assertTrue(monitor.can_allocate(size_mb=1))
        self.assertFalse(monitor.can_allocate(1e9))
        self.assertGreater(monitor.get_stats().peak_allocated_mb, 1)
        asked = []
        monitor.on_cleanup(lambda wanted: asked.append(wanted) or 2.0)
        self.assertGreaterEqual(monitor.cleanup_memory(), 2.0)
        self.assertEqual(len(asked), 1)
        self.assertIn(monitor.get_stats().pressure, {"low", "moderate", "high", "critical"})


class Routing(unittest.TestCase):
    def test_says_where_and_why(self):
        found = route("matmul", 64)
        self.assertTrue(found["device"] and found["reason"])
        with self.assertRaises(ValueError):
            route("dance", 1)


if __name__ == "__main__":
    unittest.main()
