#!/usr/bin/env python3
"""Works out what `fathom hta` must say of the traces here, the slow and obvious way: microsecond by
microsecond, straight from the definitions in docs/analyses.md. Shares no code with the program.

Writes CASE/hta.check.json for the cases in CASES."""
import json
import math
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
CASES = ["training_step", "graph_replay"]
US = 1000  # ns


def read(path):
    """(host calls, GPU work, steps, all that threads did) as dicts with begin and end in µs."""
    calls, work, steps, host = [], [], [], []
    for event in json.loads(path.read_text())["traceEvents"]:
        if event["ph"] != "X":
            continue
        args = event["args"]
        one = {"name": event["name"], "begin": event["ts"], "end": event["ts"] + event["dur"],
               "correlation": args.get("correlation"), "stream": args.get("stream"), "bytes": args.get("bytes"), "thread": event["tid"]}
        if event["cat"] in ("cuda_runtime", "cpu_op", "user_annotation"):
            host.append(one)
        if event["cat"] == "cuda_runtime":
            calls.append(one)
        elif event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
            one["type"] = ("memory" if event["cat"] != "kernel"
                           else "communication" if one["name"].startswith("nccl") else "compute")
            work.append(one)
        elif event["name"].startswith("ProfilerStep#"):
            steps.append(one)
    for one in work:
        one["launch"] = next((c for c in calls if c["correlation"] == one["correlation"]), None)
    return calls, work, sorted(steps, key=lambda step: step["begin"]), host


def instants(work, moment):
    """The types of work that run at this microsecond."""
    return frozenset(one["type"] for one in work if one["begin"] <= moment < one["end"])


def temporal(work):
    begin, end = min(w["begin"] for w in work), max(w["end"] for w in work)
    times = {"compute_ns": 0, "communication_ns": 0, "memory_ns": 0, "idle_ns": 0}
    for moment in range(begin, end):
        running = instants(work, moment)
        first = next((t for t in ("compute", "communication", "memory") if t in running), "idle")
        times[f"{first}_ns"] += US
    return {"total_ns": (end - begin) * US, **times}


def run(work, steps, host):
    """All steps; without steps, all that the GPU and the threads that launch did."""
    launching = {w["launch"]["thread"] for w in work if w["launch"]}
    first = steps[:1] or [h for h in host if h["thread"] in launching] + work
    last = work + (steps or [h for h in host if h["thread"] in launching])
    begin, end = min(one["begin"] for one in first), max(one["end"] for one in last)
    times = {"compute": 0, "exposed_communication": 0, "exposed_copy": 0, "idle": 0}
    for moment in range(begin, end):
        running = instants(work, moment)
        times["compute" if "compute" in running else "exposed_communication" if "communication" in running
              else "exposed_copy" if "memory" in running else "idle"] += US
    return {"basis": "steps" if steps else "activity", "wall_ns": (end - begin) * US, "set_up_ns": 0, "unknown_ns": 0,
            **{f"{name}_ns": ns for name, ns in times.items()}}


def kernel_types(work):
    times = {}
    for moment in range(min(w["begin"] for w in work), max(w["end"] for w in work)):
        running = instants(work, moment)
        if running:
            name = " overlapping ".join(t for t in ("compute", "communication", "memory") if t in running)
            times[name] = times.get(name, 0) + US
    busy = sum(times.values())
    ordered = sorted(times.items(), key=lambda each: (-each[1], each[0]))
    return [{"type": name, "sum_ns": ns, "pct": 100 * ns / busy} for name, ns in ordered]


def overlap(work):
    both = alone = 0
    for moment in range(min(w["begin"] for w in work), max(w["end"] for w in work)):
        running = instants(work, moment)
        alone += "communication" in running
        both += "communication" in running and "compute" in running
    return 100 * both / alone if alone else None


def idle_causes(work):
    """Gaps of these pieces of work taken together."""
    found = {"host_wait_ns": 0, "kernel_wait_ns": 0, "other_ns": 0, "host_waits": 0, "kernel_waits": 0, "others": 0}
    for one in work:
        before = [w for w in work if w["begin"] < one["begin"]]
        if not before or any(w["end"] > one["begin"] for w in before):
            continue
        gap_begin = max(w["end"] for w in before)
        gap = (one["begin"] - gap_begin) * US
        if gap == 0:
            continue
        if one["launch"] and one["launch"]["begin"] > gap_begin:
            cause = "host_wait"
        elif gap < 30 * US:
            cause = "kernel_wait"
        else:
            cause = "other"
        found[cause + "_ns"] += gap
        found[cause + "s"] += 1
    return found


def statistics(durations):
    mean = sum(durations) / len(durations)
    spread = (math.sqrt(sum((d - mean) ** 2 for d in durations) / (len(durations) - 1)) if len(durations) > 1 else 0)
    return mean, spread


def kernels(work):
    found = []
    for name in {w["name"] for w in work}:
        durations = [(w["end"] - w["begin"]) * US for w in work if w["name"] == name]
        mean, spread = statistics(durations)
        found.append({"name": name, "type": next(w["type"] for w in work if w["name"] == name),
                      "calls": len(durations), "sum_ns": sum(durations), "min_ns": min(durations),
                      "max_ns": max(durations), "mean_ns": mean, "std_ns": spread})
    return sorted(found, key=lambda kernel: (-kernel["sum_ns"], kernel["name"]))


def launches(calls, work):
    def sums(some):
        found = {"count": 0, "cpu_duration_ns": 0, "gpu_duration_ns": 0, "launch_delay_ns": 0, "short_work": 0}
        for call in some:
            pieces = [w for w in work if w["launch"] is call]
            gpu = sum(w["end"] - w["begin"] for w in pieces)
            found["count"] += 1
            found["cpu_duration_ns"] += (call["end"] - call["begin"]) * US
            found["gpu_duration_ns"] += gpu * US
            found["launch_delay_ns"] += max(0, min(w["begin"] for w in pieces) - call["end"]) * US
            found["short_work"] += gpu < call["end"] - call["begin"]
        return found

    launching = [c for c in calls if any(w["launch"] is c for w in work)]
    by_call = [{"name": name, **sums([c for c in launching if c["name"] == name])}
               for name in {c["name"] for c in launching}]
    return {**sums(launching), "unlinked_work": sum(w["launch"] is None for w in work),
            "by_call": sorted(by_call, key=lambda call: (-call["count"], call["name"]))}


def queue(work, stream):
    waiting = [(w["launch"]["begin"], w["begin"]) for w in work if w["stream"] == stream and w["launch"]]
    begin, end = min(a for a, _ in waiting), max(b for _, b in waiting)
    lengths = sorted(sum(a <= moment < b for a, b in waiting) for moment in range(begin, end))
    quantile = lambda q: lengths[math.ceil(len(lengths) * q) - 1]
    return {"device": 0, "stream": stream, "launched": len(waiting), "window_ns": (end - begin) * US,
            "mean": sum(lengths) / len(lengths), "p50": quantile(0.5), "p95": quantile(0.95), "max": max(lengths),
            "empty_ns": lengths.count(0) * US, "full_ns": 0}


def findings(path):
    calls, work, steps, host = read(path)
    whole = run(work, steps, host)
    if len(steps) > 1:  # the last is left out: work belongs to the step that launched it
        work = [w for w in work if (w["launch"] or w)["begin"] < steps[-1]["begin"]]
    streams = sorted({w["stream"] for w in work})
    of = lambda stream: [w for w in work if w["stream"] == stream]
    return {"run": whole, "temporal": temporal(work), "idle_device": idle_causes(work),
            "idle": [{"device": 0, "stream": s, **idle_causes(of(s))} for s in streams],
            "kernel_types": kernel_types(work), "comm_comp_overlap_pct": overlap(work), "kernels": kernels(work),
            "launches": launches(calls, work), "queue": [queue(work, s) for s in streams]}


if __name__ == "__main__":
    for case in CASES:
        check = {"arguments": ["hta", "trace.json"], "expect": {"ranks": [findings(HERE / case / "trace.json")]}}
        (HERE / case / "hta.check.json").write_text(json.dumps(check, indent=1) + "\n")
