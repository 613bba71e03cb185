/* SPDX-License-Identifier: Apache-2.0 */
/* preflight.h - finds problems that keep a node, or a run's nodes, below their potential,
 * with a table of checks of the agents' inventories. The functions do no I/O. */
#ifndef RINGBENCH_SERVER_ANALYSIS_PREFLIGHT_H
#define RINGBENCH_SERVER_ANALYSIS_PREFLIGHT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A registered node. All members are borrowed. */
struct preflight_node {
    const char *name, *version;
    const char *address; /* address at which other nodes reach this node, or NULL */
    const json_t *inventory;
    bool has_clock;
    /* Difference from the server's clock in s; negative if the node is behind */
    double ahead_s;
};

/* The use for which nodes are checked. Members are borrowed. */
struct preflight_use {
    const char *backend; /* NULL: "nccl" if a node has GPUs or NCCL, else "host" */
    const json_t *env;   /* the run's variables, strings by name; or NULL */
    const char *of;      /* name of the node to report on; NULL: all nodes */
};

/* Return the verdict as a new object: {"kind": "preflight", "answer":
 * "ok|finding|not_evaluated", "sentence", "evidence": {"backend", "ok", "not_evaluated",
 * "checks": [{"check", "severity", "answer", "sentence", "command", "nodes"}]}}. Nodes
 * with the same finding share one entry in `checks`. is_whole: include checks that passed
 * or could not run. Without is_whole, only findings are listed, each with at most 32
 * names and their total number ("n_nodes"). */
json_t *preflight_judge(const struct preflight_node *nodes, size_t n,
                        const struct preflight_use *use, bool is_whole);

#endif
