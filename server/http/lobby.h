/* lobby.h - where connections wait until they have said what they want: the whole head of
 * a request, or a TLS hello. The HTTP library sees none before. One that waits here costs
 * a descriptor and some 300 bytes, and the longest silent go first when room is needed,
 * so whoever speaks at once gets in. Runs on the loop's thread. */
#ifndef RINGBENCH_SERVER_HTTP_LOBBY_H
#define RINGBENCH_SERVER_HTTP_LOBBY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <uv.h>

#include "common/base/error.h"

struct lobby;

enum lobby_answer {
    LOBBY_TAKEN, /* the descriptor is the callee's */
    LOBBY_LATER  /* ask again soon */
};

struct lobby_config {
    int listener; /* taken, also on failure */
    bool is_tls;
    unsigned max;             /* of connections, here and admitted */
    unsigned max_waiting;     /* silent ones here */
    unsigned max_per_address; /* of these */
    unsigned max_per_turn; /* admissions per turn of the loop; 0: any, and none LATER */
    uint64_t patience_ms;
    /* Take a connection that has spoken. */
    enum lobby_answer (*admit)(void *arg, int fd, const struct sockaddr *address,
                               socklen_t len);
    /* How many are admitted now. */
    unsigned (*admitted)(void *arg);
    /* Close an admitted one that has waited for its client since before then; whether
     * there was one. */
    bool (*reclaim)(void *arg, uint64_t since_ms);
    void *arg;
};

struct lobby *lobby_create(uv_loop_t *loop, const struct lobby_config *config,
                           struct error *err);

struct lobby_counters {
    unsigned waiting;
    uint64_t reclaimed; /* closed to make room, here or admitted */
    uint64_t refused;   /* there was no room to make */
};
void lobby_counters(const struct lobby *lobby, struct lobby_counters *out);

/* Stop listening, drop those that wait; `closed` runs on the loop when it is freed. */
void lobby_close(struct lobby *lobby, void (*closed)(void *arg), void *arg);

#endif
