#!/usr/bin/env python3
"""Draws terminal output as a picture for the documentation.

usage: fathom report FILE | tools/terminal_svg.py "fathom report FILE" > docs/images/report.svg
"""
import html
import sys

CHAR_WIDTH, LINE_HEIGHT, MARGIN = 7.8, 18, 18
STYLE = """
  .back { fill: #fbfbfd; stroke: #d8dbe2 }
  text { font: 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #24292f; white-space: pre }
  .prompt { fill: #6a737d }
  @media (prefers-color-scheme: dark) {
    .back { fill: #16181d; stroke: #30343c }
    text { fill: #d7dae0 }
    .prompt { fill: #8b949e }
  }"""


def picture(command, lines):
    width = max(len(line) for line in [f"$ {command}", *lines]) * CHAR_WIDTH + 2 * MARGIN
    height = (len(lines) + 1) * LINE_HEIGHT + 2 * MARGIN
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
           f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label="{html.escape(command)}">')
    yield f"<style>{STYLE}\n</style>"
    yield f'<rect class="back" x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1:.0f}" rx="8"/>'
    for row, line in enumerate([f"$ {command}", *lines]):
        kind = ' class="prompt"' if row == 0 else ""
        y = MARGIN + (row + 0.8) * LINE_HEIGHT
        # The length is given, so that columns align whatever font the reader has.
        length = f' textLength="{len(line) * CHAR_WIDTH:.0f}" lengthAdjust="spacingAndGlyphs"' if line.strip() else ""
        yield f'<text{kind} x="{MARGIN}" y="{y:.0f}"{length} xml:space="preserve">{html.escape(line)}</text>'
    yield "</svg>"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("\n".join(picture(sys.argv[1], sys.stdin.read().rstrip().split("\n"))))
