/* SPDX-License-Identifier: Apache-2.0 */
/* identity.h - stores the key and the boot id by which the server identifies this agent
 *
 * The key is secret. Events are numbered per boot id. Key and boot id are stored in a
 * file of the spool directory. After a kill, an agent that is restarted on this directory
 * continues with both. */
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
