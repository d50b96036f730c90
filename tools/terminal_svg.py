#!/usr/bin/env python3
"""Text of a terminal as a picture for the documentation, light or dark as the reader's system is.

  COMMAND 2>&1 | tools/terminal_svg.py "COMMAND" > docs/images/NAME.svg
"""
import html
import sys

COLUMN, LINE, MARGIN = 7.8, 18, 18  # pixels

STYLE = """<style>
  .back { fill: #fbfbfd; stroke: #d8dbe2 }
  text { font: 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #24292f; white-space: pre }
  .prompt { fill: #6a737d }
  @media (prefers-color-scheme: dark) {
    .back { fill: #16181d; stroke: #30343c }
    text { fill: #d7dae0 }
    .prompt { fill: #8b949e }
  }
</style>"""


def line_of(text, row, is_prompt):
    length = f' textLength="{round(COLUMN * len(text))}" lengthAdjust="spacingAndGlyphs"' if text else ""
    kind = ' class="prompt"' if is_prompt else ""
    return (f'<text{kind} x="{MARGIN}" y="{MARGIN + LINE * row + 14}"{length} xml:space="preserve">'
            f"{html.escape(text, quote=False)}</text>")


def main():
    command = sys.argv[1]
    lines = ["$ " + command] + sys.stdin.read().rstrip("\n").split("\n")
    width = round(2 * MARGIN + COLUMN * max(map(len, lines)))
    height = 2 * MARGIN + LINE * len(lines)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
          f'role="img" aria-label="{html.escape(command)}">')
    print(STYLE)
    print(f'<rect class="back" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>')
    for row, text in enumerate(lines):
        print(line_of(text, row, row == 0))
    print("</svg>")


if __name__ == "__main__":
    main()
