#!/usr/bin/env python3
"""Reading a trace in Python beside reading it in C++, each in a process of its own, and columns as data frames.

usage: PYTHONPATH=build/release/python python3 bench/python_read.py build/release/bin/bench_ingest [MEGABYTES]

What Python adds to reading: columns are views, names become str when they are asked for. The floor of a data frame is one
that pandas makes of the same columns as they are, without names.
"""
import subprocess
import sys

ROUNDS = 7
IN_PYTHON = """if 1:
    import sys, time
    from fathom import read
    began = time.perf_counter()
    trace = read(sys.argv[1])
    print(time.perf_counter() - began)
    spans = trace.spans
    try:
        import pandas
    except ImportError:
        sys.exit()

    def best(function):
        times = []
        for _ in range(7):
            began = time.perf_counter()
            function()
            times.append(time.perf_counter() - began)
        return min(times)

    spans.to_pandas()  # names are made once
    frame = spans.to_pandas()
    plain = spans.to_dict()
    assert frame["duration_ns"].to_numpy().base is not None
    print(best(spans.to_pandas), best(lambda: pandas.DataFrame(plain, copy=False)),
          best(lambda: frame.groupby("name", observed=True)["duration_ns"].sum()), len(frame))
"""


def figures(*command: str) -> "list[list[float]]":
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [[float(each) for each in line.split()] for line in said.splitlines()]


def main() -> None:
    ingest = sys.argv[1]
    path = subprocess.run([ingest, "--make", sys.argv[2] if len(sys.argv) > 2 else "300"], capture_output=True, text=True,
                          check=True).stdout.strip()
    ours, theirs, frames = [], [], []
    for _ in range(ROUNDS):  # in turn, so that both see the same machine
        theirs.append(figures(ingest, "--child", path)[0][0])
        read, *frame = figures(sys.executable, "-c", IN_PYTHON, path)
        ours.append(read[0])
        frames += frame
    print(f"python_read: {min(ours):.3f} s, floor {min(theirs):.3f} s, ratio {min(ours) / min(theirs):.2f}, allowed 1.05")
    if frames:
        made, plain, grouped = (min(each[i] for each in frames) * 1e3 for i in range(3))
        print(f"python_read to_pandas of {frames[0][3]:,.0f} spans: {made:.2f} ms, floor {plain:.2f} ms, ratio {made / plain:.2f}")
        print(f"python_read durations summed by name: {grouped:.1f} ms")


if __name__ == "__main__":
    main()
