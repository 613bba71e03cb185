#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# accept.sh - measures a new rack in pairs and as a whole, and stores the reports
#
#   RINGBENCH_SERVER=... RINGBENCH_TOKEN_FILE=... accept.sh RACK [FOLDER]
#
# Exits with 0: accepted, 1: refused or the run failed, 2: not evaluated, 3: could not run.
set -u

rack=${1:?the value of the label rack} folder=${2:-acceptance-$1} here=$(dirname "$0")
mkdir -p "$folder" || exit 3

# measure NAME: runs NAME.json and stores the run's page. Returns the exit code of the run.
measure() {
    sed "s/@RACK@/$rack/g" "$here/$1.json" >"$folder/$1.json"
    ringbench run "$folder/$1.json" >"$folder/$1.txt" 2>&1
    code=$?
    tail -n 1 "$folder/$1.txt"
    run=$(sed -n 's/^# run \([0-9a-z]*\) .*/\1/p' "$folder/$1.txt" | head -n 1)
    [ -z "$run" ] || ringbench report "$run" >"$folder/$1.html"
    return "$code"
}

measure pairs || exit
# The exit code does not include the verdict on the nodes, which is in the last line.
case $(tail -n 1 "$folder/pairs.txt") in
*'; culprit: none: '*) ;;
*'; culprit: slow_'*) exit 1 ;;
*) exit 2 ;;
esac
measure whole
