#!/bin/sh
# For cron: measure, and hold it against the run that the file `base` in the folder names, the
# first night's until somebody writes another into it. Prints nothing, so that cron mails
# nothing, unless the new run is worse or could not be compared.
#
#   30 2 * * *  RINGBENCH_SERVER=... RINGBENCH_TOKEN_FILE=... nightly.sh SPEC.json FOLDER
#
# The spec wants repeats, five or more: fewer than three cases are never a verdict.
set -u

spec=${1:?the run spec, a file} folder=${2:?a folder for what is kept}
mkdir -p "$folder" || exit 3
log=$folder/$(date +%Y-%m-%d).txt
ringbench run "$spec" >"$log" 2>&1
code=$?
run=$(sed -n 's/^# run \([0-9a-z]*\) .*/\1/p' "$log" | head -n 1)
if [ "$code" -ne 0 ] || [ -z "$run" ]; then
    echo "the run of tonight ended with $code:"
    tail -n 3 "$log"
    exit "$code"
fi
if [ ! -s "$folder/base" ]; then
    echo "$run" >"$folder/base"
    exit 0
fi
ringbench compare "$(cat "$folder/base")" "$run" >"$folder/compare.txt" 2>&1
code=$?
cat "$folder/compare.txt" >>"$log"
[ "$code" -eq 0 ] || cat "$folder/compare.txt"
exit "$code"
