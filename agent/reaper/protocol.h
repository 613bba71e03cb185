/* protocol.h - what an agent and the reaper of a case tell each other, on a pair of
 * SOCK_SEQPACKET sockets: one struct per message */
#ifndef RINGBENCH_AGENT_REAPER_PROTOCOL_H
#define RINGBENCH_AGENT_REAPER_PROTOCOL_H

#include <stdint.h>
#include <sys/resource.h>

/* Another one with every change to what is below: an upgrade replaces the reaper's file
 * under agents that run. */
#define REAPER_PROTOCOL 3

#define REAPER_SOCKET 3 /* the reaper's end */
#define REAPER_LOCK 4   /* a locked file, to hold for life; or nothing */
#define REAPER_TEXT_MAX 1000

/* End of file says the same as REAPER_END: the agent has died. */
enum reaper_request_type { REAPER_SPAWN = 1, REAPER_SIGNAL, REAPER_END };

struct reaper_request {
    int32_t type;
    int32_t pid, signum, is_group; /* of REAPER_SIGNAL */
    int32_t argc;                  /* of REAPER_SPAWN */
    struct rlimit files;           /* likewise: what it may open */
};

/* Descriptors that come with REAPER_SPAWN. `strings` is a file in memory: path, working
 * directory ("": this one), argc arguments, then the environment, each with its NUL. To
 * `report` goes the pid, or -errno where there was no fork; then errno if exec fails. */
enum reaper_fd {
    REAPER_FD_STRINGS,
    REAPER_FD_STDOUT,
    REAPER_FD_STDERR,
    REAPER_FD_EVENTS,
    REAPER_FD_REPORT,
    REAPER_FDS
};

enum reaper_reply_type {
    REAPER_READY =
        1,       /* number: REAPER_PROTOCOL; text: the cgroup of its processes, or "" */
    REAPER_EXIT, /* a process that was spawned has ended */
    REAPER_LEFT  /* text: what does not die; the last message */
};

struct reaper_reply {
    int32_t type;
    int32_t pid, is_signal, number; /* of REAPER_EXIT */
    /* Likewise: what it used of a CPU, with its children that it waited for, and how
     * often it was taken off one. */
    int64_t cpu_us, involuntary;
    char text[REAPER_TEXT_MAX];
};

#endif
