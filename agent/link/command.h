/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - what the server tells the agent to do */
#ifndef RINGBENCH_AGENT_LINK_COMMAND_H
#define RINGBENCH_AGENT_LINK_COMMAND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

#define CASE_RUN_MAX 64
#define COMMAND_RANKS_MAX 4096

/* One attempt at one case of one run: what workers belong to. */
struct case_id {
    char run[CASE_RUN_MAX + 1]; /* letters, digits, '.', '_', '-': fit for a file name */
    int64_t number;
    int64_t attempt;
};

bool case_id_equal(const struct case_id *a, const struct case_id *b);

enum command_type { COMMAND_START, COMMAND_STOP, COMMAND_LEAVE };

struct command_rank {
    int rank, local_rank;
    int device; /* of the backend's; -1: as the worker chooses */
};

struct command {
    enum command_type type;
    int64_t seq;
    struct case_id id;  /* start, stop */
    const char *reason; /* stop, leave; "" if the server gave none */
    bool wants_stacks;  /* stop */
    /* start only; the pointers into JSON are borrowed from the parsed object */
    const char *backend, *master_addr;
    int master_port, world_size, group_rank, group_world_size;
    struct command_rank *ranks;
    size_t n_ranks;
    int agents_here;    /* that may use the same CPUs as this one, itself included */
    json_t *env;        /* object of strings and nulls, or NULL */
    json_t *files;      /* object of strings, or NULL */
    const json_t *spec; /* object */
    /* A start whose case is known but which can't be carried out: why, else no code. */
    struct error fault;
};

/* Read a command. Returns 0, or -1 when it can't even be answered: not an object, no seq,
 * a type that this agent does not know, no usable case. Release it also after a fault. */
int command_parse(const json_t *object, struct command *command, struct error *err);

void command_release(struct command *command);

#endif
