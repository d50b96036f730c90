import subprocess
import sys
import unittest


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


class Import(unittest.TestCase):
    def test_tells_its_version(self):
        self.assertRegex(run("import fathom; print(fathom.__version__)"), r"^\d+\.\d+\.\d+$")

    def test_imports_nothing_heavy(self):
        heavy = run("import fathom, sys; print([m for m in ('numpy', 'torch', 'cupy', 'asyncio') if m in sys.modules])")
        self.assertEqual(heavy, "[]")

    def test_everything_it_lists_is_there(self):
        names = "[n for n in fathom.__all__ if n not in fathom._MODULES]"
        self.assertEqual(run(f"import fathom; print(all(hasattr(fathom, n) for n in {names}))"), "True")
        listed = "set(fathom.__all__) >= set(fathom._HOMES) | fathom._MODULES"
        self.assertEqual(run(f"import fathom; print({listed})"), "True")


if __name__ == "__main__":
    unittest.main()
