"""`fathom compile` counts what a plain reading of the logs counts: frames, graph breaks, recompilations, failures, cache events."""
import collections
import hashlib
import json
import os
import pathlib
import re
import subprocess
import unittest

CORPUS = pathlib.Path(os.environ.get("FATHOM_CORPUS") or pathlib.Path(os.environ["FATHOM_SOURCE_DIR"], "../shared/corpus"))
LOGS = sorted(path for path in (CORPUS / "torch_trace").rglob("*") if path.is_file())
PREFIX = re.compile(r"[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ .*?\] (\{.*)$")


def records(path):
    """Envelope and payload of each record."""
    found = []
    for line in path.read_text(errors="replace").split("\n"):
        if line.startswith("\t"):
            found[-1][1].append(line[1:])
        elif match := PREFIX.match(line):
            found.append((json.loads(match[1]), []))
    return [(envelope, "\n".join(payload)) for envelope, payload in found]


def plain_counts(path):
    counts = collections.Counter()
    recompiled = set()
    logged_breaks = restarts = 0
    logs_breaks = False
    for envelope, payload in records(path):
        compile_id = (envelope.get("frame_id"), envelope.get("frame_compile_id"))
        if (metrics := envelope.get("compilation_metrics")) is not None:
            counts["compilations"] += 1
            counts["failures"] += metrics.get("fail_type") is not None
            restarts += len(metrics.get("restart_reasons") or [])
            logs_breaks |= "dynamo_cumulative_compile_time_us" in metrics
            if (metrics.get("cache_size") or 0) > 0:
                recompiled.add(compile_id)
        name = envelope.get("artifact", {}).get("name", "")
        logged_breaks += name == "dynamo_graph_break_reason"
        if name == "recompile_reasons":
            recompiled.add(compile_id)
        if match := re.fullmatch(r"(.*)_cache_(hit|miss|bypass)", name):
            counts[match[1], match[2]] += 1
    counts["recompiles"] = len(recompiled)
    counts["graph_breaks"] = logged_breaks or (0 if logs_breaks else restarts)
    return +counts


def told_counts(document):
    counts = collections.Counter({name: document[name] for name in ("compilations", "failures", "recompiles", "graph_breaks")})
    for cache, outcomes in document["caches"].items():
        for told, outcome in (("hits", "hit"), ("misses", "miss"), ("bypasses", "bypass")):
            counts[cache, outcome] = outcomes[told]
    return +counts


@unittest.skipUnless(LOGS, "no corpus")
class CompileCounts(unittest.TestCase):
    def test_counts_are_those_of_a_plain_reading(self):
        for path in LOGS:
            with self.subTest(path.name):
                run = subprocess.run([os.environ["FATHOM_PROGRAM"], "compile", path, "--json"], capture_output=True, text=True)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(told_counts(json.loads(run.stdout)), plain_counts(path))

    def test_damaged_payloads_are_those_with_another_checksum(self):
        for path in LOGS:
            with self.subTest(path.name):
                said = [(envelope["has_payload"], payload) for envelope, payload in records(path) if "has_payload" in envelope]
                damaged = sum(hashlib.md5(payload.encode()).hexdigest() != checksum for checksum, payload in said)
                run = subprocess.run([os.environ["FATHOM_PROGRAM"], "compile", path, "--json"], capture_output=True, text=True)
                self.assertEqual(json.loads(run.stdout)["logs"][0]["damaged_payloads"], damaged)

    def test_a_folder_is_the_job_of_its_ranks(self):
        folder = CORPUS / "torch_trace" / "multi_rank"
        run = subprocess.run([os.environ["FATHOM_PROGRAM"], "compile", folder, "--json"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        document = json.loads(run.stdout)
        logs = [path for path in LOGS if path.parent == folder]
        self.assertEqual([log["rank"] for log in document["logs"]], [0, 3])
        self.assertEqual(told_counts(document), sum((plain_counts(path) for path in logs), collections.Counter()))

    def test_what_every_tree_leads_to_are_all_compilations(self):
        for path in LOGS:
            with self.subTest(path.name):
                run = subprocess.run([os.environ["FATHOM_PROGRAM"], "compile", path, "--json"], capture_output=True, text=True)
                document = json.loads(run.stdout)
                told = sorted((one["log"], one["index"]) for node in document["tree"] for one in node["compilations"])
                self.assertEqual(told, [(0, index) for index in range(len(document["logs"][0]["compilations"]))])


if __name__ == "__main__":
    unittest.main()
