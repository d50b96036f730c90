#!/bin/sh
# Whether the scripts write exactly the files that are checked in.
set -e
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$here" "$work/golden"
python3 "$work/golden/make_traces.py"
python3 "$work/golden/brute_force.py"
diff -r "$here" "$work/golden"
