/* preflight.h - what keeps a node, or the nodes of a run, from what they could do: a
 * table of checks of what agents say that the nodes are. Plain functions of the
 * inventories. */
#ifndef RINGBENCH_SERVER_ANALYSIS_PREFLIGHT_H
#define RINGBENCH_SERVER_ANALYSIS_PREFLIGHT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A node as it registered. All is borrowed. */
struct preflight_node {
    const char *name, *version;
    const char *address; /* at which others reach it; or NULL */
    const json_t *inventory;
    bool has_clock;
    double ahead_s; /* its clock of the server's; below 0 it is behind */
};

/* What they are to do. Borrowed. */
struct preflight_use {
    const char *backend; /* NULL: "nccl" where one has GPUs or NCCL, else "host" */
    const json_t *env;   /* of the run: strings by name; or NULL */
    const char *of;      /* the node whose findings are asked for; NULL: of all */
};

/* The verdict: {"kind": "preflight", "answer": "ok|finding|not_evaluated", "sentence",
 * "evidence": {"backend", "ok", "not_evaluated", "checks": [{"check", "severity",
 * "answer", "sentence", "command", "nodes"}]}}. A check that several nodes fail alike is
 * one of them, with their names in `nodes`. is_whole: with the checks that are well, and
 * those that could not be evaluated; else only findings, each with 32 names at most and
 * how many they are ("n_nodes"). A new object. */
json_t *preflight_judge(const struct preflight_node *nodes, size_t n,
                        const struct preflight_use *use, bool is_whole);

#endif
