#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tune.sh - measures a matrix of NCCL_ALGO and NCCL_PROTO, compares ring with tree, writes a tuner file
#
#   RINGBENCH_SERVER=... RINGBENCH_TOKEN_FILE=... tune.sh MATRIX.json TUNER.conf
#
# Exits with 0: the file is written, 3: the run did not complete.
set -u

matrix=${1:?the run spec, a file} file=${2:?the tuner file to write}
api=${RINGBENCH_SERVER:-http://127.0.0.1:8080}/api/v1
token=$(cat "${RINGBENCH_TOKEN_FILE:-/dev/null}")

out=$(ringbench run "$matrix") || {
    printf '%s\n' "$out" | tail -n 1
    exit 3
}
run=$(printf '%s\n' "$out" | sed -n 's/^# run \([0-9a-z]*\) .*/\1/p' | head -n 1)
# The token goes through a pipe, so that it is not in the list of processes.
printf 'Authorization: Bearer %s\n' "${token:-none}" |
    curl -sS -f -H @- ${RINGBENCH_CA_FILE:+--cacert "$RINGBENCH_CA_FILE"} \
        "$api/compare?base=$run&base_env=NCCL_ALGO=Ring&head_env=NCCL_ALGO=Tree&format=text" || exit 3
ringbench results "$run" tuner >"$file.new" && mv "$file.new" "$file" || {
    rm -f "$file.new"
    exit 3
}
echo "$file: $(grep -c '^[^#]' "$file") settings beat NCCL's own choice"
