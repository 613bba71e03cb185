#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A CI job: measures a spec with thresholds, stores the results in a folder, and exits with the
# verdict: 0 pass, 1 fail, 2 not evaluated, 3 could not run.
#
#   RINGBENCH_SERVER=... RINGBENCH_TOKEN_FILE=... gate.sh SPEC.json [FOLDER]
set -u

spec=${1:?the run spec, a file} folder=${2:-ringbench}
mkdir -p "$folder" || exit 3
{
    ringbench run "$spec"
    echo $? >"$folder/code"
} | tee "$folder/run.txt"
code=$(cat "$folder/code")
run=$(sed -n 's/^# run \([0-9a-z]*\) .*/\1/p' "$folder/run.txt" | head -n 1)
if [ -n "$run" ]; then
    ringbench gate "$run" >"$folder/verdict.txt"
    ringbench results "$run" csv >"$folder/results.csv"
    ringbench report "$run" >"$folder/report.html"
fi
exit "$code"
