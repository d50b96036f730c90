#!/usr/bin/env python3
"""Writes the seeds of the nsys, snapshot, zip, run_parts and printable fuzzers: small files with a little of everything.

With the programs of a build (make_seeds.py build/quick/bin), those of the leftovers fuzzer too: the memory of processes
that were killed."""
import os
import pathlib
import pickle
import sqlite3
import struct
import subprocess
import sys
import tempfile
import zipfile

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"

THREAD = (7 << 24) + 8
GPU = "start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT"
NSYS = {
    "strings": (f"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                "INSERT INTO StringIds VALUES (1, 'void k<int>()'), (2, 'k'), (3, 'cudaLaunchKernel_v7000');"),
    "kernels": (f"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({GPU}, demangledName INT, shortName INT,"
                " gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT);"
                f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 7, 5, {7 << 24}, 1, 2, 4, 1, 1, 64, 1, 1),"
                f" (30, 25, 1, 1, 7, 6, {9 << 24}, 9, 2, 4, 1, 1, 64, 1, 1);"),
    "copies": (f"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY ({GPU}, bytes INT, copyKind INT, srcKind INT, dstKind INT);"
               f"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (40, 50, 0, 1, 7, 8, {7 << 24}, 4096, 1, 1, 2);"
               f"CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION ({GPU}, syncType INT);"
               f"INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1, 2, 0, 1, 4294967295, 9, {9 << 24}, 1);"),
    "calls": ("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT);"
              f"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, {THREAD}, 5, 3);"
              "CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid INT, textId INT);"
              f"INSERT INTO NVTX_EVENTS VALUES (0, 9, 59, 'aten::add, op_id = 7', {THREAD}, NULL),"
              f" (1, NULL, 60, 'open', {THREAD}, NULL), (2, NULL, 34, NULL, {THREAD}, 2);"),
    "memory": ("CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INT, globalPid INT, deviceId INT, address INT,"
               " bytes INT, memKind INT, memoryOperationType INT);"
               f"INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (1, {7 << 24}, 0, 64, 512, 2, 0), (2, {7 << 24}, 0, 64, 512, 2, 1);"
               "CREATE TABLE GPU_METRICS (timestamp INT, typeId INT, metricId INT, value INT);"
               "INSERT INTO GPU_METRICS VALUES (1, 256, 3, 80);"),
}


def snapshot():
    frames = [{"name": "f", "filename": "/torch/x.py", "line": 1}, {"name": "g", "filename": "a.py", "line": 2}]
    trace = [{"action": action, "addr": 64, "size": 512, "stream": 0, "time_us": time, "frames": frames}
             for time, action in enumerate(["free_completed", "segment_alloc", "alloc", "free_requested",
                                            "free_completed", "segment_free", "oom", "snapshot"])]
    blocks = [{"address": 64, "size": 512, "requested_size": 500, "state": "active_allocated", "frames": frames},
              {"size": 512, "state": "inactive"}]
    return {"segments": [{"device": 0, "address": 64, "total_size": 1024, "blocks": blocks}],
            "device_traces": [trace, []],
            "external_annotations": [{"stage": "START", "name": "s", "device": 0, "time_us": 1},
                                     {"stage": "END", "name": "s", "device": 0, "time_us": 3}]}


class Call:
    def __reduce__(self):
        return print, ("never",)


# The form of leftovers.cpp: the size of the part, and the lines of 64 bytes of its memory that are not all zero.
def left_behind(programs, program, *words):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        run = pathlib.Path(folder) / "part.pftrace"
        live = pathlib.Path(folder) / "live"
        live.mkdir()
        layer = pathlib.Path(programs).resolve().parent / "lib/libfathom_opencl.so"
        subprocess.run([str(pathlib.Path(programs) / program), *words], stdout=subprocess.DEVNULL, check=False,
                       env={**os.environ, "FATHOM_RUN_FILE": str(run), "FATHOM_LIVE_FOLDER": str(live),
                            "OPENCL_LAYERS": str(layer)})
        memory = (live / run.name).read_bytes()
        seed = struct.pack("<I", run.stat().st_size)
    lines = [at for at in range(0, len(memory), 64) if any(memory[at:at + 64])]
    while lines:
        count = next((i for i, at in enumerate(lines) if at != lines[0] + 64 * i), len(lines))
        seed += struct.pack("<II", lines[0] // 64, 64 * count) + memory[lines[0]:lines[0] + 64 * count]
        lines = lines[count:]
    return seed


def leftovers(programs):
    seeds = CORPUS / "leftovers"
    seeds.mkdir(parents=True, exist_ok=True)
    for name, words in {"scopes": ("ending_program", "kill", "20"), "threads": ("ending_program", "kill", "5", "3"),
                        "handed": ("scoped_program", "waiting", "1"), "opencl": ("opencl_program", "_exit-now")}.items():
        (seeds / name).write_bytes(left_behind(programs, *words))


def main():
    nsys = CORPUS / "nsys"
    nsys.mkdir(parents=True, exist_ok=True)
    for name in [*NSYS, "all"]:
        path = nsys / f"{name}.sqlite"
        path.unlink(missing_ok=True)
        database = sqlite3.connect(path)
        database.execute("PRAGMA page_size = 512")
        for part in dict.fromkeys(["strings", name]) if name != "all" else NSYS:
            database.executescript(NSYS[part])
        database.execute("VACUUM")
        database.close()
    snapshots = CORPUS / "snapshot"
    snapshots.mkdir(parents=True, exist_ok=True)
    for protocol in range(6):
        (snapshots / f"protocol_{protocol}").write_bytes(pickle.dumps(snapshot(), protocol))
    (snapshots / "segments").write_bytes(pickle.dumps(snapshot()["segments"]))
    (snapshots / "call").write_bytes(pickle.dumps({"segments": [], "device_traces": [], "x": Call()}, 2))
    (snapshots / "values").write_bytes(pickle.dumps([None, True, 1 << 70, -1.5, b"b", {1}, frozenset([2]), "é" * 300]))
    zips = CORPUS / "zip"
    zips.mkdir(parents=True, exist_ok=True)
    for name, method in [("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)]:
        with zipfile.ZipFile(zips / name, "w", method) as archive:
            for member in ["traces/", "traces/a.json", "__MACOSX/x"]:
                archive.writestr(zipfile.ZipInfo(member, (2026, 1, 1, 0, 0, 0)), b"" if member[-1] == "/" else b"[{}]" * 9, method)
            archive.comment = b"seed"
    # What processes leave behind: whole parts, one that is cut off, one that is something else.
    parts = CORPUS / "run_parts"
    parts.mkdir(parents=True, exist_ok=True)
    between = b"\n--part--\n"
    traces = [(CORPUS / "perfetto" / name).read_bytes() for name in ("sequence", "slices", "clocks", "counters")]
    (parts / "two").write_bytes(between.join(traces[:2]))
    (parts / "four").write_bytes(between.join(traces))
    (parts / "cut").write_bytes(between.join([traces[0][:-3], traces[1]]))
    (parts / "foreign").write_bytes(between.join([b"", b"{}", traces[2]]))
    texts = CORPUS / "printable"
    texts.mkdir(parents=True, exist_ok=True)
    (texts / "escapes").write_bytes(b"k\x1b[2J\x07\r\n\t\x7f\xc2\x9b31m \xe2\x80\xae evil \xff\xed\xa0\x80 " + "µ漢👩".encode())
    (texts / "name").write_bytes("void gemm<float>(…) · grid 8x1x1".encode())


if __name__ == "__main__":
    main()
    if len(sys.argv) > 1:
        leftovers(sys.argv[1])
