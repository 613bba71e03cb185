/* join.h - how ranks of a case find and connect to each other: what mesh and hub share
 *
 * Who lets others in opens a door and publishes where it is; who connects reads that,
 * connects and greets. Which rank does which is the mesh's and the hub's business. Every
 * wait ends at the deadline, and with what the watch notices: a stop, or the loss of a
 * rank that was here. One thread. */
#ifndef RINGBENCH_WORKER_GROUP_JOIN_H
#define RINGBENCH_WORKER_GROUP_JOIN_H

#include <jansson.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/worker/group/attempt.h"
#include "agent/worker/group/door.h"
#include "agent/worker/group/rendezvous_client.h"
#include "agent/worker/group/watch.h"
#include "common/base/error.h"

struct join_config {
    int rank, world_size;
    struct rendezvous_client *store; /* borrowed until all have joined */
    const char *address;             /* own, as others reach it; NULL: loopback */
    const atomic_int *stop;          /* may be NULL */
    int64_t timeout_ms;              /* for all of it */
    struct attempt_ear ear;          /* of addresses that cannot be reached */
};

enum { JOIN_NOBODY = -1, JOIN_AWAITED = -2 };

struct join {
    const struct join_config *config;
    struct watch *watch;
    int *fds; /* by rank: the connection, or one of the above */
    int64_t deadline_ns;
    struct door door;
    struct attempt *late; /* without an answer so far; with where they go to */
    struct join_place *late_places;
    struct pollfd *late_fds;
    int n_late;
    struct error failure; /* of the first address that cannot be reached */
};

/* Where a rank lets others in. */
struct join_place {
    char address[256], port[8];
    char interface[ATTEMPT_INTERFACE_MAX]; /* that has the address; "": not known */
    unsigned char token[DOOR_TOKEN_BYTES];
};

/* Everything is borrowed until join_end. The connections that come to lie in fds are the
 * caller's, also after a failure, and in the watch. */
void join_begin(struct join *join, const struct join_config *config, struct watch *watch,
                int *fds);
void join_end(struct join *join);

/* Open the door and publish {"address","port","interface","token"} under `key`, with the
 * members of `more` (stolen; NULL: none). */
int join_publish(struct join *join, const char *key,
                 const unsigned char token[DOOR_TOKEN_BYTES], json_t *more,
                 struct error *err);
/* Wait for what `rank` publishes: a new reference. */
json_t *join_read(struct join *join, const char *key, int rank, struct join_place *place,
                  struct error *err);
/* A member that may be neither missing, empty nor longer than size - 1 bytes. */
int join_copy_text(const json_t *record, const char *key, char *out, size_t size);
/* The reason when members that `more` had are not as they should be. -1. */
int join_refuse_record(const struct join *join, int rank, struct error *err);

/* Connect to a rank. What does not answer soon goes on in join_admit. An address that
 * cannot be reached is told to the ear, and is no failure before join_admit. */
int join_connect(struct join *join, int rank, const struct join_place *place,
                 struct error *err);
/* Until all ranks are here whose fds say JOIN_AWAITED, and all that were connected to.
 * Where one cannot be reached this rank still lets others in for a while, so that they
 * find its door open and only what is wrong is told. */
int join_admit(struct join *join, struct error *err);

#endif
