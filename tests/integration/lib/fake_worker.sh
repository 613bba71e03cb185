#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A worker that does what HOST_MODE says; see agent_workers.test.mjs.
if [ "$1" = --probe ]; then
    echo '{"backend":"fake","version":"1","available":true,"reason":null,"devices":[],'
    echo '"collectives":["all_reduce"],"dtypes":["float32"],"redops":["sum"]}'
    exit 0
fi
event() { echo "$1" >&3; }
rows() {
    i=0
    while [ "$i" -lt "$1" ]; do
        event "{\"type\":\"result\",\"row\":$i}"
        i=$((i + 1))
        [ -z "$2" ] || sleep "$2"
    done
}
event "{\"type\":\"hello\",\"protocol\":1,\"backend\":\"fake\",\"pid\":$$}"
case "$HOST_MODE" in
done)
    echo "this is rank $RANK"
    echo "a warning" >&2
    event '{"type":"done","ok":true}'
    ;;
env)
    env | sort
    ls -l /proc/self/fd
    cat "$RINGBENCH_CASE"
    ;;
crash)
    i=0
    while [ "$i" -lt 30 ]; do
        echo "line $i" >&2
        i=$((i + 1))
    done
    printf 'caf\351 \000 last words' >&2
    kill -SEGV $$
    ;;
fail) exit 3 ;;
flood)
    yes 'a line of thirty-two characters!' | head -n 100000 >&2
    echo 'the very end' >&2
    ;;
stacks)
    # A shell can't trap a signal that it was started with ignored.
    exec perl -e '
        $SIG{USR2} = sub { syswrite(STDERR, "where I am\n") };
        open(my $events, ">&=", 3);
        syswrite($events, "{\"type\":\"phase\",\"phase\":\"running\"}\n");
        sleep(1) while 1;'
    ;;
stubborn)
    trap '' TERM
    event '{"type":"phase","phase":"running"}'
    while :; do sleep 1; done
    ;;
polite)
    trap 'event "{\"type\":\"done\",\"ok\":false}"; exit 1' TERM
    event '{"type":"phase","phase":"running"}'
    while :; do sleep 0.05; done
    ;;
child)
    sleep 1000 &
    event '{"type":"phase","phase":"running"}'
    ;;
escape)
    event '{"type":"phase","phase":"running"}'
    # Not before it has left the group, with which it would be killed.
    trap 'exit 0' USR1
    setsid sh -c "kill -USR1 $$; exec sleep 1000" &
    wait
    ;;
bad)
    event 'this is no JSON'
    event '{"type":"exit","code":0}'
    event '{"type":"result","row":1,"seq":7}'
    head -c 1100000 /dev/zero | tr '\0' 'x' >&3
    event ''
    event '{"type":"done","ok":true}'
    ;;
progress)
    event '{"type":"progress","op":1}'
    event '{"type":"progress","op":2}'
    event '{"type":"progress","op":3}'
    event '{"type":"phase","phase":"running"}'
    sleep 1000
    ;;
rows) rows "${HOST_ROWS:-10}" "$HOST_PAUSE" ;;
big)
    # Events of a megabyte in all, half a megabyte each.
    pad=$(head -c 500000 /dev/zero | tr '\0' 'y')
    event "{\"type\":\"log\",\"level\":\"info\",\"text\":\"$pad\"}"
    event "{\"type\":\"log\",\"level\":\"info\",\"text\":\"$pad\"}"
    event "{\"type\":\"log\",\"level\":\"info\",\"text\":\"$pad\"}"
    ;;
esac
