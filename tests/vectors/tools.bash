# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# For tests that use the vector tools. Run from the top of the tree; UBOE_BUILD names the build
# folder (default build/).

build=${UBOE_BUILD:-build}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# Path of a built tool; ends the test when it was not built.
tool() {
    local folder
    for folder in vectors interop; do
        if [ -x "$build/tests/$folder/$1" ]; then
            printf '%s\n' "$build/tests/$folder/$1"
            return
        fi
    done
    printf 'TAP version 13\n1..1\nnot ok 1 %s is built\n# cmake --build %s --target %s\n' \
        "$1" "$build" "$1" >&3
    exit 1
}

# Print "ok - NAME" when the command succeeds, else "not ok - NAME" behind its output.
check() {
    local name=$1
    shift
    if "$@" >"$scratch/check.out" 2>&1; then
        printf 'ok - %s\n' "$name"
    else
        sed 's/^/# /' "$scratch/check.out" | head -n 40
        printf 'not ok - %s\n' "$name"
    fi
}

# Number the lines of a test and exit with its verdict: run the function in a pipe to this one.
finish_tap() {
    awk '
        BEGIN { print "TAP version 13" }
        /^ok - /     { sub(/^ok - /, "");     printf "ok %d %s\n", ++n, $0; next }
        /^not ok - / { sub(/^not ok - /, ""); printf "not ok %d %s\n", ++n, $0; bad++; next }
        { print }
        END { printf "1..%d\n", n; exit bad > 0 || n == 0 }'
}

exec 3>&1
