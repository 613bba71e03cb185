#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# accept.sh - measure a new rack in pairs and as a whole; keep the reports
#
#   RINGBENCH_SERVER=... RINGBENCH_TOKEN_FILE=... accept.sh RACK [FOLDER]
#
# Ends with 0: accepted, 1: refused or the run failed, 2: not evaluated, 3: could not run.
set -u

rack=${1:?the value of the label rack} folder=${2:-acceptance-$1} here=$(dirname "$0")
mkdir -p "$folder" || exit 3

# measure NAME: run NAME.json; the script's exit code, and the run's page in the folder.
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
# A run completes whatever it found; the verdict on its nodes is in its last line.
case $(tail -n 1 "$folder/pairs.txt") in
*'; culprit: none: '*) ;;
*'; culprit: slow_'*) exit 1 ;;
*) exit 2 ;;
esac
measure whole
