#!/usr/bin/env python3
"""Man pages from --help: fathom(1), and fathom-COMMAND(1) for each of its commands.

usage: tools/man_pages.py PROGRAM FOLDER
"""
import datetime
import os
import pathlib
import re
import subprocess
import sys



def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def parsed(help_text):
    """What --help says: a line on what it does, usage, sections of entries, paragraphs, examples."""
    page = {"does": "", "usage": "", "sections": {}, "paragraphs": [], "examples": []}
    section = None
    for line in help_text.splitlines():
        heading = re.fullmatch(r"([A-Z][A-Za-z ]*):", line)
        if heading:
            section = heading[1]
        elif line.startswith("Usage:"):
            page["usage"] = line.removeprefix("Usage:").strip()
        elif section == "Examples" and (line.startswith("  ") or not line):
            page["examples"].append(line[2:])
        elif line.startswith("  ") and section:
            entries = page["sections"].setdefault(section, [])
            entry = re.match(r" {2}(\S.*?)(?: {2,}(\S.*))?$", line)
            if entry:
                entries.append([entry[1], entry[2] or ""])
            else:  # the entry above goes on
                entries[-1][1] = f"{entries[-1][1]} {line.strip()}".strip()
        elif not line.strip():
            page["paragraphs"].append("")
        elif not page["usage"]:
            page["does"] = f'{page["does"]} {line}'.strip()
        else:
            section = None
            page["paragraphs"][-1] = f'{page["paragraphs"][-1]} {line.strip()}'.strip()
    page["paragraphs"] = [text for text in page["paragraphs"] if text]
    return page


def escaped(text):
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return r"\&" + text if text[:1] in (".", "'") else text


def entry_lines(term, text):
    return [".TP", f".B {escaped(term)}", escaped(text)]


def man_page(name, page, version, see_also):
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp()))
    day = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).date()
    lines = [f'.TH {name.upper().replace("-", chr(92) + "-")} 1 "{day}" "{version}" "Fathom"',
             ".SH NAME", f'{escaped(name)} \\- {escaped(page["does"].removeprefix("Fathom: ").rstrip("."))}',
             ".SH SYNOPSIS", f'.B {escaped(page["usage"])}']
    if page["paragraphs"]:
        lines += [".SH DESCRIPTION"] + "\n.PP\n".join(map(escaped, page["paragraphs"])).split("\n")
    for section, entries in page["sections"].items():
        title = section.upper()
        lines.append(f".SH {title}")
        for term, text in entries:
            lines += entry_lines(term, text)
    if page["examples"]:
        lines += [".SH EXAMPLES", ".nf"] + [escaped(line) for line in page["examples"]]
        while not lines[-1]:
            lines.pop()
        lines.append(".fi")
    lines += [".SH SEE ALSO"] + [f".BR {escaped(other)} (1)" + ("," if other != see_also[-1] else "")
                                 for other in see_also]
    return "\n".join(lines) + "\n"


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    version = output_of(program, "--version").strip()
    top = parsed(output_of(program, "--help"))
    commands = [term for term, _ in top["sections"].get("Commands", [])
                if term != "help"]  # shows the same
    assert commands, "no commands in --help"
    pages = [f"fathom-{command}" for command in commands]
    (folder / "fathom.1").write_text(man_page("fathom", top, version, pages))
    for command, name in zip(commands, pages):
        page = parsed(output_of(program, command, "--help"))
        (folder / f"{name}.1").write_text(man_page(name, page, version, ["fathom"]))


if __name__ == "__main__":
    main()
