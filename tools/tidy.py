#!/usr/bin/env python3
"""clang-tidy on what changed, or on all of src/, bench/ and examples/. Exits with 1 if it objects to anything.

usage: tools/tidy.py BUILD_FOLDER [--all] [--limit SECONDS]

Changed is what is not committed and, newest first, what the commits that are not yet in the upstream
branch touch; where all of them are, the last ten. A changed header stands for the .cpp of its name and one
other that includes it. Files that the limit leaves no time for are named as a number, and no failure.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src/", "bench/", "examples/")
COMMITS = 10


def git(*words):
    """Lines of the answer; none where git cannot tell."""
    answer = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return answer.stdout.split("\n")[:-1] if answer.returncode == 0 else []


def since():
    """The commit that changes are counted from; None in a repository that is younger than that."""
    head = git("rev-parse", "HEAD")
    for upstream in ("@{upstream}", "origin/main", "main"):
        base = git("merge-base", "HEAD", upstream)
        if base and base != head:
            return base[0]
    return (git("rev-parse", "--verify", "--quiet", f"HEAD~{COMMITS}") or [None])[0]


def changed():
    """Paths of changed files, newest change first."""
    base = since()
    names = git("diff", "--name-only", "HEAD") + git("ls-files", "-o", "--exclude-standard")
    names += git("log", "--name-only", "--format=", *([f"{base}..HEAD"] if base else []))
    return list(dict.fromkeys(name for name in names if name))


def to_check(names, compiled):
    """Which of the compiled files tell about the named ones."""
    texts = {name: (ROOT / name).read_text() for name in compiled}
    found = []
    for name in names:
        if name in texts:
            found.append(name)
        elif name.endswith(".h") and name.startswith(FOLDERS + ("include/",)):
            own = name.removesuffix(".h") + ".cpp"
            included = name.removeprefix("src/").removeprefix("include/")
            others = [other for other in compiled if other != own
                      and (f'"{included}"' in texts[other] or f"<{included}>" in texts[other])]
            found += [own] if own in texts else []
            found += others[:1]
    return list(dict.fromkeys(found))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("build")
    options.add_argument("--all", action="store_true")
    options.add_argument("--limit", type=float)
    chosen = options.parse_args()
    entries = json.loads((pathlib.Path(chosen.build) / "compile_commands.json").read_text())
    paths = (os.path.relpath(entry["file"], ROOT) for entry in entries)
    compiled = sorted({path for path in paths if path.startswith(FOLDERS)})
    names = compiled if chosen.all else to_check(changed(), compiled)
    until = time.monotonic() + chosen.limit if chosen.limit else float("inf")

    def check(name):
        if time.monotonic() > until:
            return None
        return subprocess.run(["clang-tidy", "-quiet", "-p", chosen.build, name], cwd=ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    failed = left = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for answer in pool.map(check, names):
            left += answer is None
            if answer and answer.returncode != 0:
                failed += 1
                print(answer.stdout, flush=True)
    print(f"  {len(names) - left} files looked at, {failed} with something to mend", flush=True)
    if left:
        print(f"  no time for {left} more: ./dev lint all")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
