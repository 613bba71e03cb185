#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# watch.sh - creates a watch, or shows the result of its last sweep
#
#   RINGBENCH_SERVER=... RINGBENCH_TOKEN_FILE=... watch.sh start WATCH.json | state ID
#
# `state` exits with 0: pass, 1: slow or failed, 2: not evaluated yet, 3: no answer.
set -u

usage='usage: watch.sh start WATCH.json | state ID'
api=${RINGBENCH_SERVER:-http://127.0.0.1:8080}/api/v1
token=$(cat "${RINGBENCH_TOKEN_FILE:-/dev/null}")

# The token goes through a pipe, so that it is not in the list of processes.
call() {
    printf 'Authorization: Bearer %s\n' "${token:-none}" |
        curl -sS -H @- ${RINGBENCH_CA_FILE:+--cacert "$RINGBENCH_CA_FILE"} "$@"
}

case ${1:-} in
start)
    answer=$(call -i -H 'Accept: application/json' --data-binary "@${2:?$usage}" "$api/watches") || exit 3
    id=$(printf '%s\n' "$answer" | tr -d '\r' | sed -n 's|^[Ll]ocation: .*/||p')
    [ -n "$id" ] || {
        printf '%s\n' "$answer" | tail -n 1 >&2
        exit 3
    }
    echo "$id"
    ;;
state)
    answer=$(call -f "$api/watches/${2:?$usage}") || exit 3
    call "$api/watches?format=text" | sed -n "1p; /^$2 /p"
    case $(printf '%s' "$answer" | sed -n 's/.*"last": *{[^{}]*"answer": *"\([a-z_]*\)".*/\1/p') in
    pass) exit 0 ;;
    '' | not_evaluated) exit 2 ;;
    *) exit 1 ;;
    esac
    ;;
*)
    echo "$usage" >&2
    exit 3
    ;;
esac
