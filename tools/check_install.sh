#!/usr/bin/env bash
# Uses an installed Fathom as a stranger would: the program, its man pages, the libraries from a project.
# usage: tools/check_install.sh DEB FOLDER [root]
# The .deb is unpacked in FOLDER, or with `root` installed by apt in a fresh Debian there.
set -euo pipefail
cd "$(dirname "$0")/.."
deb=$1 work=$2 how=${3:-unpacked}
root=$work/root

fathom() {
  if [ "$how" = root ]; then chroot "$root" fathom "$@"; else "$root/usr/bin/fathom" "$@"; fi
}

if [ "$how" = root ]; then
  mmdebstrap --quiet --variant=apt --customize-hook="copy-in '$deb' /tmp" \
    --customize-hook="chroot \"\$1\" sh -c 'apt-get install -y --no-install-recommends /tmp/$(basename "$deb")'" \
    bookworm "$root" >"$work/log" 2>&1 || { tail -30 "$work/log"; exit 1; }
else
  dpkg -x "$deb" "$root"
fi

echo "  $(fathom --version), of $(du -sh --apparent-size "$root/usr" | cut -f1) in $root/usr"
# Every library is found, in the system or in the package.
for file in "$root"/usr/bin/fathom "$root"/usr/lib/libfathom*.so "$root"/usr/lib/fathom/*.so; do
  if LD_LIBRARY_PATH=$root/usr/lib ldd "$file" | grep 'not found'; then echo "  $file: libraries are missing"; exit 1; fi
done

# A man page for each command but help, without a complaint of man.
commands=$(fathom completion bash | sed -n 's/.*compgen -W "\([a-z ]*\) --help.*/\1/p' | sed 's/\<help\>//')
[ -n "$commands" ] || { echo "  no commands in the completion"; exit 1; }
for page in fathom $(printf 'fathom-%s ' $commands); do
  complaints=$(man --warnings -l "$root/usr/share/man/man1/$page.1" 2>&1 >/dev/null) || { echo "  no man page: $page"; exit 1; }
  [ -z "$complaints" ] || { echo "  $page.1: $complaints"; exit 1; }
done
bash -n "$root/usr/share/bash-completion/completions/fathom"
test -s "$root/usr/share/zsh/vendor-completions/_fathom"
test -s "$root/usr/share/fish/vendor_completions.d/fathom.fish"
test -s "$root/usr/share/doc/fathom/copyright"

# A project of somebody else.
cmake -G Ninja -S tests/consumer -B "$work/build" -DCMAKE_PREFIX_PATH="$root/usr" >"$work/log" 2>&1 &&
  cmake --build "$work/build" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
grep -q "^fathom_DIR:PATH=$root/usr/" "$work/build/CMakeCache.txt" || { echo "  found another Fathom"; exit 1; }
(cd "$work" && ./build/consumer)

# What it wrote, reported by the program that was installed; and recorded by it, with the recorder beside it.
mkdir -p "$root/tmp"
cp "$work/profile.json" "$root/tmp/"
inside=$root
[ "$how" != root ] || inside=
fathom report "$inside/tmp/profile.json" | grep -q consumer
fathom report "$inside/tmp/profile.json" -o "$inside/tmp/report.html" >/dev/null 2>&1
grep -q '</html>' "$root/tmp/report.html"
test -e "$root/usr/lib/fathom/libfathom_opencl.so"
fathom profile -o "$inside/tmp/run.pftrace" -- true 2>/dev/null
test -s "$root/tmp/run.pftrace"

# The Python module, of the Python that it was built for, and the program through it.
if [ "$how" != root ]; then
  in_python() { PYTHONPATH=$root/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$@"; }
  (cd "$work" && in_python -c '
import fathom, fathom.monitor, fathom.profiling, fathom.runtime
with fathom.scope("installed"):
    pass
assert fathom.get_profiler().get_summary()["installed"].call_count == 1
assert fathom.read("profile.json").report()["run"]["source"] == "profile.json"')
  in_python -m fathom --version | grep -q fathom
fi
echo "  an installed Fathom works, alone, from a separate project and from Python"
