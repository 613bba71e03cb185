/* SPDX-License-Identifier: Apache-2.0 */
/* identity.h - how the server identifies this agent
 *
 * An agent has a secret key and a boot id; its events are numbered per boot id. Both are
 * in a file of the spool directory. An agent that is restarted there after a kill
 * continues with them. */
#ifndef RINGBENCH_AGENT_LINK_IDENTITY_H
#define RINGBENCH_AGENT_LINK_IDENTITY_H

#include <limits.h>
#include <stdbool.h>

#include "common/base/error.h"
#include "common/base/ids.h"

#define IDENTITY_KEY_LENGTH (2 * ID_UUID_LENGTH)

struct identity {
    char path[PATH_MAX]; /* "": not stored in a file */
    char boot_id[ID_UUID_LENGTH + 1];
    char key[IDENTITY_KEY_LENGTH + 1]; /* a secret */
    bool is_resumed;                   /* read from the file of an earlier agent */
};

/* Read DIR/identity. If it is missing or invalid, make a new one and write it. */
int identity_load(struct identity *identity, const char *dir, struct error *err);

/* Make an identity that is not stored in a file. */
void identity_make(struct identity *identity);

/* Make a new boot id, whose events are numbered from 1. */
int identity_renew(struct identity *identity, struct error *err);

/* Remove the file, so that the next agent does not continue with this identity. */
void identity_remove(const struct identity *identity);

#endif
