#!/bin/sh
# Moff compiled with the address and undefined-behaviour sanitizers: the perft suite, the bench and the tests of the UCI
# conversation, the search, its tables, and intact and damaged tablebases must run clean. Then the uncompiled source,
# where an index off an array is an error anyway and a negative one is made one, over the same perft suite. Last,
# compiled with the thread sanitizer: the bench, the tests of the UCI conversation and four threads that probe
# tablebases. Takes a copy; needs gcc or clang, and some twenty minutes. SANITIZERS chooses from "address" and "thread".
#
#     sh bench/sanitize.sh [PYTHON]
set -eu
if [ "${1:-}" = --help ]; then
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit
fi

python=${1:-python3}
compiler=${CC:-cc}
here=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
copy=$folder/moff
mkdir "$copy"
if [ -d "$here/../shared" ]; then # data of the tests
    ln -s "$(cd "$here/../shared" && pwd)" "$folder/shared"
fi

(cd "$here" && git ls-files -z | xargs -0 tar cf - 2>/dev/null) | tar xf - -C "$copy"
cd "$copy"

# build FLAGS: compile everything with the sanitizer.
build() {
    CC=$compiler CFLAGS="$1" LDFLAGS="$1" "$python" setup.py -q build_ext --inplace --force
}

# Python itself is not instrumented: the library must be loaded first, and what Python keeps at exit is not our leak.
under_address() {
    LD_PRELOAD="$("$compiler" -print-file-name=libasan.so) $("$compiler" -print-file-name=libubsan.so)" \
        ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 "$@"
}

address() {
    build "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
    under_address "$python" -c "from x88 import build; assert build.compiled, build.notice()"
    under_address "$python" bench/perft.py tests/x88/perft/perft.epd --summary
    under_address "$python" engine.py bench --depth 8
    under_address "$python" -m pytest -q -n0 -p no:cacheprovider tests/moff/uci tests/x88/perft/test_divide.py \
        tests/search/syzygy tests/search/test_hash.py tests/search/test_search.py tests/search/test_strength.py \
        tests/search/test_transposition.py
    MOFF_PURE=1 "$python" -m pytest -q -n0 -p no:cacheprovider tests/x88/test_indices.py
}

# What Python does under its GIL is in order for the thread sanitizer although Python is not instrumented: the GIL, its
# locks and its threads are made of pthread mutexes, condition variables and semaphores, which the library intercepts.
# So no report is suppressed.
#
# The reports go to files, because many of the processes are killed by their tests. Addresses have to be where the
# library expects them, which some kernels' randomization is too wide for.
under_thread() {
    LD_PRELOAD=$("$compiler" -print-file-name=libtsan.so) MOFF_THREADS=4 \
        TSAN_OPTIONS="log_path=$copy/race history_size=4" $fixed "$@"
}

thread() {
    fixed=
    if setarch "$(uname -m)" -R true 2>/dev/null; then
        fixed="setarch $(uname -m) -R"
    fi
    build "-fsanitize=thread -fno-omit-frame-pointer"
    under_thread "$python" -c "from x88 import build; assert build.compiled, build.notice()
assert 'libtsan' in open('/proc/self/maps').read()"
    under_thread "$python" engine.py bench --depth 6 --threads 4
    # Those that run with four threads; the others add nothing new.
    under_thread "$python" -m pytest -q -n0 -p no:cacheprovider tests/moff/uci tests/search/syzygy/test_probing.py \
        -k threads4 || failed=1
    if ls "$copy"/race.* >/dev/null 2>&1; then
        cat "$copy"/race.* >&2
        failed=1
    fi
}

failed=0
for sanitizer in ${SANITIZERS:-address thread}; do
    "$sanitizer"
done
[ "$failed" = 0 ] || exit 1
echo "clean"
