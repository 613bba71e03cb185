/* SPDX-License-Identifier: Apache-2.0 */
/* greeting.h - a rank's port, and the greeting that opens each connection to it
 *
 * A connection begins with the port's token, which its owner gives to the ranks of its
 * case through their store, the rank that connects, and the connection's purpose. The
 * kernel holds a connection back until its first bytes are there, so that a stranger who
 * says nothing seldom delays anybody, and then by half a second. */
#ifndef RINGBENCH_WORKER_GROUP_GREETING_H
#define RINGBENCH_WORKER_GROUP_GREETING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"

#define TOKEN_BYTES 16
#define TOKEN_TEXT (2 * TOKEN_BYTES + 1)

struct greeting_port {
    int listener; /* -1: closed */
    unsigned char token[TOKEN_BYTES];
    bool has_warned;
};

struct greeting_caller {
    int fd, rank, purpose;
};

/* Listen on this address only (others need no way in), or loopback if it is empty. The
 * token is drawn. */
int greeting_listen(struct greeting_port *port, const char *host, int *number,
                    struct error *err);
void greeting_close(struct greeting_port *port);

/* Wait at most `ms`. 1: *caller knows the token, and its fd is the caller's of this
 * function; 0: nobody yet, or a stranger, whose connection is closed; -1: failed. */
int greeting_accept(struct greeting_port *port, int ms, struct greeting_caller *caller,
                    struct error *err);
/* Close a connection that has greeted, but is not expected. */
void greeting_refuse(struct greeting_port *port, int fd);

/* Greet, as the first thing on a new connection. */
int greeting_send(int fd, const unsigned char token[TOKEN_BYTES], int rank, int purpose,
                  struct error *err);

void greeting_format_token(const unsigned char token[TOKEN_BYTES], char text[TOKEN_TEXT]);
int greeting_parse_token(const char *text, unsigned char token[TOKEN_BYTES]);

#endif
