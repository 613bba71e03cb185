/* SPDX-License-Identifier: Apache-2.0 */
/* greeting.h - open a rank's listening port, and check the greeting that starts each
 * connection
 *
 * The greeting contains the port's token, the connecting rank, and the connection's
 * purpose. Ranks of the case read the token from their store. The kernel holds a
 * connection back until its first bytes arrive. A client that sends nothing therefore
 * rarely delays a rank, and then for at most 0.5 s. */
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

/* Listen on this address only, or on loopback if it is empty, and draw a random token. */
int greeting_listen(struct greeting_port *port, const char *host, int *number,
                    struct error *err);
void greeting_close(struct greeting_port *port);

/* Wait at most `ms` for a connection. Returns 1 if *caller sent the right token; close
 * its fd. Returns 0 if nobody connected or if a connection with a wrong token was closed.
 * Returns -1 on failure. */
int greeting_accept(struct greeting_port *port, int ms, struct greeting_caller *caller,
                    struct error *err);
/* Close a connection that sent the token but is not expected. */
void greeting_refuse(struct greeting_port *port, int fd);

/* Send the greeting, the first bytes of a new connection. */
int greeting_send(int fd, const unsigned char token[TOKEN_BYTES], int rank, int purpose,
                  struct error *err);

void greeting_format_token(const unsigned char token[TOKEN_BYTES], char text[TOKEN_TEXT]);
int greeting_parse_token(const char *text, unsigned char token[TOKEN_BYTES]);

#endif
