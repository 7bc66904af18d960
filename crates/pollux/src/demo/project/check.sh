#!/bin/sh
# Runs the checks of till.sh; exits with 1 when one of them fails.

failed=0

expect() {
    expected=$1
    shift
    actual=$(sh ./till.sh "$@")
    if [ "$actual" = "$expected" ]; then
        echo "ok    till $* = $actual"
    else
        echo "wrong till $* = $actual, expected $expected"
        failed=1
    fi
}

expect 0
expect 300 100 200
expect 9999 9999
expect 9000 10000
expect 10800 6000 6000

exit $failed
