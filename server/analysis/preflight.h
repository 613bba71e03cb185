/* SPDX-License-Identifier: Apache-2.0 */
/* preflight.h - finds problems that keep a node, or a run's nodes, below their potential:
 * a table of checks of the agents' inventories. Pure. */
#ifndef RINGBENCH_SERVER_ANALYSIS_PREFLIGHT_H
#define RINGBENCH_SERVER_ANALYSIS_PREFLIGHT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A registered node. All members are borrowed. */
struct preflight_node {
    const char *name, *version;
    const char *address; /* at which other nodes reach it; or NULL */
    const json_t *inventory;
    bool has_clock;
    double ahead_s; /* difference to the server's clock; negative if the node is behind */
};

/* The intended use. Members are borrowed. */
struct preflight_use {
    const char *backend; /* NULL: "nccl" if a node has GPUs or NCCL, else "host" */
    const json_t *env;   /* the run's variables, strings by name; or NULL */
    const char *of;      /* the node to report on; NULL: all nodes */
};

/* Return the verdict as a new object: {"kind": "preflight", "answer":
 * "ok|finding|not_evaluated", "sentence", "evidence": {"backend", "ok", "not_evaluated",
 * "checks": [{"check", "severity", "answer", "sentence", "command", "nodes"}]}}. Nodes
 * with the same finding share one entry in `checks`. is_whole: include checks that passed
 * or could not run. Otherwise only findings are listed, each with at most 32 names and
 * their total number ("n_nodes"). */
json_t *preflight_judge(const struct preflight_node *nodes, size_t n,
                        const struct preflight_use *use, bool is_whole);

#endif
