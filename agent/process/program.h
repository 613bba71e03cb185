/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - a program that this node's administrator offers to runs: a file of
 * programs.d, understood (docs/reference/programs.md) */
#ifndef RINGBENCH_AGENT_PROCESS_PROGRAM_H
#define RINGBENCH_AGENT_PROCESS_PROGRAM_H

#include <jansson.h>
#include <stddef.h>

#include "agent/case/metric.h"
#include "common/base/error.h"
#include "common/base/problem.h"

struct program {
    char *name, *description;
    char *path;           /* of the executable: argv[0], looked up in PATH */
    json_t *argv;         /* array of templates */
    json_t *parameters;   /* object, see common/spec/program_schema.h */
    char *cwd;            /* NULL: the agent's */
    json_t *env;          /* object of strings */
    long ranks_per_node;  /* 0: as many as the node offers */
    long timeout_s;       /* of one case; 0: the run's own */
    json_t *metric_rules; /* as the file has them; NULL: none */
    struct metric_set *metrics;
    char *config_dir; /* what {config_dir} stands for */
};

/* Understand a file's content (borrowed). NULL after adding every fault to *problems,
 * with its pointer into the file. */
struct program *program_parse(const char *name, json_t *file, const char *config_dir,
                              struct problems *problems);
void program_destroy(struct program *program);

/* What the server is told: a new object. */
json_t *program_to_json(const struct program *program);

/* The argument vector for arguments (NULL: none) that are checked here once more; ended
 * by NULL, to be freed by command_template_free. NULL with the first fault. */
char **program_argv(const struct program *program, json_t *args, struct error *err);
#endif
