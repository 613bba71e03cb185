/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - parses commands of the server: start a case, stop a case, leave */
#ifndef RINGBENCH_AGENT_LINK_COMMAND_H
#define RINGBENCH_AGENT_LINK_COMMAND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

#define CASE_RUN_MAX 64
#define COMMAND_RANKS_MAX 4096

/* One attempt at one case of one run. Each worker belongs to one attempt. */
struct case_id {
    char run[CASE_RUN_MAX + 1]; /* letters, digits, '.', '_', '-': safe in a file name */
    int64_t number;
    int64_t attempt;
};

bool case_id_equal(const struct case_id *a, const struct case_id *b);

enum command_type { COMMAND_START, COMMAND_STOP, COMMAND_LEAVE };

struct command_rank {
    int rank, local_rank;
    int device; /* index among the backend's devices; -1: the worker chooses */
};

struct command {
    enum command_type type;
    int64_t seq;
    struct case_id id;  /* start, stop */
    const char *reason; /* of a stop or leave command; "" if the server gave no reason */
    bool with_stacks;   /* stop */
    /* The members below are set only for a start command. Pointers into JSON are borrowed
     * from the parsed object. */
    const char *backend, *master_addr;
    int master_port, world_size, group_rank, group_world_size;
    struct command_rank *ranks;
    size_t n_ranks;
    int agents_here;    /* agents that share this agent's CPUs, including itself */
    json_t *env;        /* object of strings and nulls, or NULL */
    json_t *files;      /* object of strings, or NULL */
    const json_t *spec; /* object */
    /* Reason why a start command with a valid case cannot be executed. If it has no error
     * code, the command can be executed. */
    struct error fault;
};

/* Read a command. Returns -1 if the agent cannot answer the command, because it is not an
 * object or its seq, type or case is invalid. Release the command in any case. */
int command_parse(const json_t *object, struct command *command, struct error *err);

void command_release(struct command *command);

#endif
