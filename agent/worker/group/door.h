/* door.h - a rank's port: who connects says in time who it is, or is sent away
 *
 * A connection opens with the port's token, which its owner gives to the ranks of its
 * case through their store, and the rank that connects. Strangers hold up nobody: all
 * that have connected are heard at once, and they are only so many. One thread. */
#ifndef RINGBENCH_WORKER_GROUP_DOOR_H
#define RINGBENCH_WORKER_GROUP_DOOR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"

#define DOOR_TOKEN_BYTES 16
#define DOOR_TOKEN_TEXT (2 * DOOR_TOKEN_BYTES + 1)
#define DOOR_PATIENCE_MS 5000
/* When one more connects, the one that has said nothing for the longest time goes. */
#define DOOR_GUESTS_MAX 256

struct door {
    int listener;        /* -1: closed */
    int64_t patience_ms; /* until a connection must have greeted */
    unsigned char token[DOOR_TOKEN_BYTES];
    struct door_guest *guests; /* not yet known, in the order in which they came */
    int n_guests;
    bool has_warned;
};

/* Listen on this address only (others need no way in), or loopback if it is empty. */
int door_open(struct door *door, const char *host,
              const unsigned char token[DOOR_TOKEN_BYTES], int *port, struct error *err);
/* A door that is all zeros, or was closed, is fine. */
void door_close(struct door *door);

/* Wait at most `ms`, or until `also` (-1: nothing) is readable. 1: *fd, now the caller's,
 * knows the token, and says that it is *rank; 0: nobody yet; -1: failed. */
int door_admit(struct door *door, int ms, int also, uint32_t *rank, int *fd,
               struct error *err);
/* Send away one that was admitted: it cannot be whom it says. */
void door_refuse(struct door *door, int fd);

/* Say who comes, as the first thing on a new connection. */
int door_greet(int fd, const unsigned char token[DOOR_TOKEN_BYTES], int rank,
               struct error *err);

void door_format_token(const unsigned char token[DOOR_TOKEN_BYTES],
                       char text[DOOR_TOKEN_TEXT]);
int door_parse_token(const char *text, unsigned char token[DOOR_TOKEN_BYTES]);

#endif
