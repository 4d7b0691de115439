#!/bin/sh
# Moff compiled with the address and undefined-behaviour sanitizers: the perft suite, the bench and the tests of the
# UCI conversation have to run clean. Then the uncompiled source, where an index off an array is an error anyway
# and a negative one is made one, over the same perft suite. Takes a copy; needs gcc or clang, and some ten minutes.
#
#     sh bench/sanitize.sh [PYTHON]
set -eu

python=${1:-python3}
compiler=${CC:-cc}
here=$(cd "$(dirname "$0")/.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT INT TERM

(cd "$here" && git ls-files -z | xargs -0 tar cf - 2>/dev/null) | tar xf - -C "$copy"
cd "$copy"
flags="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
CC=$compiler CFLAGS="$flags" LDFLAGS="$flags" "$python" setup.py -q build_ext --inplace

# Python itself is not instrumented: the library has to be there first, and what Python keeps at exit is no leak of ours.
run() {
    LD_PRELOAD="$("$compiler" -print-file-name=libasan.so) $("$compiler" -print-file-name=libubsan.so)" \
        ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 "$@"
}
run "$python" -c "from x88 import build; assert build.compiled, build.notice()"
run "$python" bench/perft.py tests/perft.epd --summary
run "$python" engine.py bench 8
run "$python" -m pytest -q -p no:cacheprovider tests/test_uci.py tests/test_uci_go.py tests/test_uci_input.py \
    tests/test_uci_fuzz.py tests/test_divide.py tests/test_hash.py tests/test_search.py tests/test_table.py \
    tests/test_strength.py

MOFF_PURE=1 "$python" -m pytest -q -p no:cacheprovider tests/test_indices.py
echo "clean"
