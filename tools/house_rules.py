#!/usr/bin/env python3
"""Rules of the house that no compiler checks. Prints each breach as file:line and exits with 1."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_LINES = 400  # for one file in twenty more may be right
MAX_SUBJECT = 72  # letters, of the subject of a commit …
SUBJECTS_SINCE = "bf49b0e"  # … made after this one, from which on it is checked

# ARCHITECTURE.md: a room includes only headers of rooms that stand left of it.
MAY_USE = {
    "base": set(),
    "perfetto": set(),
    "trace": {"base", "perfetto"},
    "profiler": {"base", "perfetto"},
    "analyze": {"base", "trace"},
    "advise": {"base", "trace", "analyze"},
    "compare": {"base", "trace", "analyze"},
    "explain": {"base", "trace", "analyze", "advise"},
    "report": {"base", "trace", "analyze", "compare", "advise", "explain"},
    "record": {"base", "perfetto"},
    "devices": {"base"},
    "monitor": {"base", "devices"},
    "runtime": {"base", "devices"},
    "serve": {"base", "trace", "analyze", "compare", "advise", "explain", "report", "devices", "monitor"},
    "api": {"base", "trace", "analyze", "compare", "report"},
    "cli": {"base", "trace", "profiler", "analyze", "compare", "advise", "explain", "report", "record",
            "devices", "monitor", "runtime", "serve"},
}
# Public headers (include/fathom/) that are plain data: every room may speak in them. The others are the
# profiler's face, but for compare.h, which is the api's.
PUBLIC_DATA = {"change_type.h", "comparison_outcome.h", "detail/log_bucket.h", "figures.h", "gpu_device.h",
               "results.h", "session.h"}
# What reports may ask of the analyses themselves: what something is called, what kind it is, a sum or share of
# figures they have. Whatever works a fact out of a trace they get from explain::Analysis, once.
ASKS = re.compile(r"\b(?:analyze|advise|compare|trace)::([a-z]\w*)\(")
MAY_ASK = re.compile(r"(is|has)_\w+|\w*(name|label)_of|role_name|original_name|short_place|part_of|call_role|work_type|kernel_class|"
                     r"percent_of|weight_of|total_bytes|total_blocks|peak_rss|temporal_of_run|good_gemm_pct|device_info")
# Headers too heavy to be included by a header, unless one source alone ends up with that.
HEAVY = ["simdjson.h", "CLI/CLI.hpp", "boost/", "nlohmann/json.hpp", "yaml-cpp/yaml.h", "curses.h", "pybind11/"]


def sources():
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.cpp", "*.h", "*.py", "*.ts", "*.tsx"],
        cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split()]


def may_use_public(room, header):
    if header in PUBLIC_DATA:
        return True
    if header == "compare.h":
        return room == "api"
    if header in {"router.h", "operation.h"}:
        return room in {"runtime", "cli"}
    if header == "monitor.h":
        return room in {"monitor", "serve", "cli"}
    return room in {"profiler", "record", "runtime"}


def python_breaches(path, lines):
    """Scopes run inside other people's loops: plain C API. Python's headers stay in python/."""
    parts = path.relative_to(ROOT).parts
    for number, line in enumerate(lines, 1):
        if parts[:3] == ("python", "src", "scopes") and line.startswith("#include <pybind11"):
            yield number, "scopes are plain C API, without pybind11"
        if parts[0] in ("src", "include") and re.match(r"#include <(Python\.h|pybind11)", line):
            yield number, "Python's headers stay in python/"


def room_breaches(path, lines):
    parts = path.relative_to(ROOT).parts
    if parts[:2] == ("include", "fathom"):
        for number, line in enumerate(lines, 1):
            if re.match(r'#include "(?!fathom/)', line):
                yield number, "a public header includes public headers alone"
    if parts[0] != "src" or len(parts) < 3:
        return
    room = parts[1]
    if room not in MAY_USE:
        yield 1, f"room {room} is not in tools/house_rules.py"
        return
    for number, line in enumerate(lines, 1):
        asked = [name for name in ASKS.findall(line) if not MAY_ASK.fullmatch(name)] if room == "report" else []
        if asked:
            yield number, f"a report does not compute {asked[0]}: ask explain::Analysis"
        included = re.match(r'#include "([a-z]+)/', line)
        if included and included[1] in MAY_USE and included[1] not in MAY_USE[room] | {room}:
            yield number, f"{room} may not include {included[1]}"
        public = re.match(r'#include "fathom/(.*)"', line)
        if public and not may_use_public(room, public[1]):
            yield number, f"{room} may not include fathom/{public[1]}"


def public_type_breaches():
    """A type of two public headers under one name: each compiles alone, and a program of both crashes."""
    defined = {}
    for path in sorted((ROOT / "include" / "fathom").glob("*.h")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r"(?:struct|class|enum class)(?: FATHOM_API)? (\w+)\b[^;]*$", line)
            if not found:
                continue
            other = defined.setdefault(found[1], path)
            if other != path:
                yield path.relative_to(ROOT), number, f"{found[1]} is a type of {other.name}, too"


TYPE = re.compile(r"(?:struct|class|enum class)(?: FATHOM_API| alignas\(\w+\))? (\w+)\b(?!.*::\w+ ?[:{])[^;]*$")


def types_of(path):
    """(name, namespace, line) of the types that a header defines outside of others."""
    space = ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        opened = re.match(r"(?:inline )?namespace ([\w:]+) {", line)
        space = opened[1] if opened else space
        found = TYPE.match(line)
        if found:
            yield found[1], space, number


def headers_below(path, known):
    """The headers of src/ and include/ that a file includes, directly or through headers."""
    if path not in known:
        known[path] = set()
        for name in re.findall(r'^#include "(.*)"$', path.read_text(), re.MULTILINE):
            header = next((folder / name for folder in (ROOT / "src", ROOT / "include") if (folder / name).exists()), None)
            known[path] |= {header} | headers_below(header, known) if header else set()
    return known[path]


def hidden_type_breaches():
    """A type that hides another of a namespace around its own, where a room knows both."""
    known = {}
    for room in sorted(MAY_USE):
        headers = set().union(*(headers_below(path, known) for path in (ROOT / "src" / room).rglob("*.[ch]*")))
        defined = {}
        for path in sorted(headers):
            for name, space, number in types_of(path):
                for other, outer in defined.setdefault(name, []):
                    if other != path and (f"{space}::".startswith(f"{outer}::") or f"{outer}::".startswith(f"{space}::")):
                        yield path.relative_to(ROOT), number, f"{room} knows another {name}, of {other.relative_to(ROOT)}"
                defined[name].append((path, space))


def joined_breaches():
    """What two files of a room define under one name within themselves: a joined build has both in one."""
    defined = {}
    for path in sorted((ROOT / "src").rglob("*.cpp")):
        room = path.relative_to(ROOT).parts[1]
        is_own = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.startswith(("namespace {", "}  // namespace")):
                is_own = line == "namespace {"
            found = is_own and re.match(r"(?:constexpr [^(=]*?\b(k[A-Z]\w*)\b|(?:struct|class|enum class) (\w+)\b(?!.*;$)"
                                        r"|(?=\S)(?!template|using)[\w:<>&*, ]*\w[&*>]* (\w+)\((.*)\) {$)", line)
            if not found:
                continue
            # Functions may share a name if they take different things.
            takes = re.sub(r"\w+(,|$)", r"\1", found[4] or "")
            name = (room, found[1] or found[2] or found[3], takes)
            other = defined.setdefault(name, path)
            if other != path:
                yield path.relative_to(ROOT), number, f"{name[1]} is defined in {other.relative_to(ROOT)}, too"


def line_breaches(lines):
    for number, line in enumerate(lines, 1):
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", line) and "house_rules" not in line:
            yield number, "leave no notes to yourself: do it, or open an issue"
        if "using namespace std;" in line:
            yield number, "using namespace std"


# The tests have these precompiled (tests/CMakeLists.txt), so no compiler misses them there.
PRECOMPILED = [(r"\b(TEST|TEST_F|TEST_P|EXPECT_\w+|ASSERT_\w+)\(", ("gtest/gtest.h", "gmock/gmock.h")),
               (r"\bnlohmann::", ("nlohmann/json.hpp", "nlohmann/json_fwd.hpp"))]


def subject_breaches():
    """None where there is no history: in a copy without .git, or a shallow one."""
    listed = subprocess.run(["git", "log", "--no-merges", "--format=%h %s", f"{SUBJECTS_SINCE}..HEAD"],
                            cwd=ROOT, capture_output=True, text=True)
    for line in listed.stdout.splitlines() if listed.returncode == 0 else []:
        commit, subject = line.split(" ", 1)
        if len(subject) > MAX_SUBJECT:
            yield f"commit {commit}", 1, f"its subject has {len(subject)} letters: more than {MAX_SUBJECT}"


def test_breaches(path, lines):
    if path.relative_to(ROOT).parts[0] != "tests":
        return
    for uses, headers in PRECOMPILED:
        used = [number for number, line in enumerate(lines, 1) if re.search(uses, line)]
        if used and not any(f"#include <{header}>" in lines for header in headers):
            yield used[0], f"used without #include <{headers[0]}>"


def sources_with(header):
    """The sources of its room, and of others, that include a header of src/, directly or through headers."""
    wanted, found, seen = [header], set(), set()
    while wanted:
        name = wanted.pop().relative_to("src")
        for path in sources():
            if path not in seen and path.suffix in (".h", ".cpp") and f'#include "{name}"' in path.read_text():
                seen.add(path)
                found |= {path} if path.suffix == ".cpp" else set()
                wanted += [path.relative_to(ROOT)] if path.suffix == ".h" and ROOT / "src" in path.parents else []
    return found


def main():
    breaches = []
    lengths = []
    for path in sources():
        lines = path.read_text().splitlines()
        name = path.relative_to(ROOT)
        lengths.append((len(lines), name))
        if path != pathlib.Path(__file__).resolve():
            breaches += [(name, *b) for b in line_breaches(lines)]
        breaches += [(name, *b) for b in room_breaches(path, lines)]
        breaches += [(name, *b) for b in test_breaches(path, lines)]
        breaches += [(name, *b) for b in python_breaches(path, lines)]
        if name.suffix == ".h" and name.parts[0] in ("src", "include") and "#pragma once" not in lines:
            breaches.append((name, 1, "no #pragma once"))
        if name.suffix == ".h":
            heavy = [(name, number, f"<{header}> in a header")
                     for number, line in enumerate(lines, 1) for header in HEAVY if f"<{header}" in line]
            breaches += heavy if heavy and len(sources_with(name)) > 1 else []
    breaches += public_type_breaches()
    breaches += hidden_type_breaches()
    breaches += joined_breaches()
    breaches += subject_breaches()
    lengths.sort(reverse=True)
    allowed = len(lengths) // 20
    breaches += [(name, 1, f"{count} lines: more than {MAX_LINES}, split it")
                 for count, name in lengths[allowed:] if count > MAX_LINES]
    for name, number, what in breaches:
        print(f"{name}:{number}: {what}")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
