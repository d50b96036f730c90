#!/usr/bin/env python3
"""What a scope costs in Python, beside the floor of the same run: an empty context manager written in C.

usage: PYTHONPATH=build/release/python python3 bench/python_scope.py
"""
import importlib.util
import threading
import timeit

import fathom

REPEATS, CALLS = 15, 100_000


def ns(statement: str, **names: object) -> float:
    """Of one run of a statement, without the loop: the best of many, because machines are shared."""
    took = min(timeit.repeat(statement, globals=names, number=CALLS, repeat=REPEATS))
    return (took - min(timeit.repeat("pass", number=CALLS, repeat=3))) / CALLS * 1e9


def bare() -> None:
    """What the decorator is put around."""


def main() -> None:
    profiler = fathom.get_profiler(enabled=True)
    floor = ns("with make(): pass", make=threading.Lock)
    call = ns("f()", f=bare)
    decorated = fathom.profile_function(bare)
    scope = fathom.scope
    rows = [("with scope('x')", ns("with scope('x'): pass", scope=scope), 110),
            # The module loads most of its names when they are asked for, which makes each `fathom.` slower.
            ("with fathom.scope('x')", ns("with fathom.scope('x'): pass", fathom=fathom), None),
            ("decorator, over the bare call", ns("f()", f=decorated) - call, 60),
            ("push and pop", ns("push('x'); pop()", push=fathom.push, pop=fathom.pop), 60),
            ("with scope('x', size=1)", ns("with scope('x', size=1): pass", scope=scope), None),
            ("with profiler.profile('x')", ns("with p.profile('x'): pass", p=profiler), None)]
    profiler.disable()
    rows.append(("with scope('x'), off", ns("with scope('x'): pass", scope=scope), 35))
    rows.append(("decorator, off, over the bare call", ns("f()", f=decorated) - call, 35))
    rows.append(("push and pop, off", ns("push('x'); pop()", push=fathom.push, pop=fathom.pop), 35))
    profiler.enable()
    if importlib.util.find_spec("torch"):
        import torch

        rows.append(("torch record_function", ns("with r('x'): pass", r=torch.profiler.record_function), None))
    print(f"{'':36} {'ns':>8} {'/ floor':>8} {'promised':>9}")
    print(f"{'new empty C context manager (floor)':36} {floor:8.1f} {1:8.2f}")
    for name, took, promised in rows:
        print(f"{name:36} {took:8.1f} {took / floor:8.2f} {promised if promised else '':>9}")


if __name__ == "__main__":
    main()
