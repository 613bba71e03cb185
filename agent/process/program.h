/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - parses a program that this node's administrator offers to runs: a file of
 * programs.d (docs/reference/programs.md) */
#ifndef RINGBENCH_AGENT_PROCESS_PROGRAM_H
#define RINGBENCH_AGENT_PROCESS_PROGRAM_H

#include <jansson.h>
#include <stddef.h>

#include "agent/case/metric.h"
#include "common/base/error.h"
#include "common/base/problem.h"

struct program {
    char *name, *description;
    char *path;           /* the executable: argv[0], looked up in PATH */
    json_t *argv;         /* array of templates */
    json_t *parameters;   /* object, see common/spec/program_schema.h */
    char *cwd;            /* NULL: the agent's */
    json_t *env;          /* object of strings */
    long ranks_per_node;  /* 0: as many as the node offers */
    long timeout_s;       /* limit of one case; 0: the run's own */
    json_t *metric_rules; /* the file's `metrics`; NULL: none */
    struct metric_set *metrics;
    char *config_dir; /* the value of {config_dir} in templates */
};

/* Parse a file's content (borrowed). On failure returns NULL and adds every error to
 * *problems, with its pointer into the file. */
struct program *program_parse(const char *name, json_t *file, const char *config_dir,
                              struct problems *problems);
void program_destroy(struct program *program);

/* Returns a new object. */
json_t *program_to_json(const struct program *program);

/* Check the arguments (NULL: none) and build the argument vector, which ends with NULL.
 * Free it with command_template_free. Returns NULL with the first error. */
char **program_argv(const struct program *program, json_t *args, struct error *err);
#endif
