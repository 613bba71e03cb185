/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - the model of a run, built from its events. Uses no sockets, clock or store;
 * replaying a run's events gives the same model and a byte-identical document. */
#ifndef RINGBENCH_SERVER_RUNS_RUN_H
#define RINGBENCH_SERVER_RUNS_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/ids.h"
#include "common/result/headline.h"
#include "common/spec/run_spec.h"
#include "server/analysis/carried.h"
#include "server/runs/pace.h"
#include "server/runs/run_metrics.h"
#include "server/summary/result_record.h"

enum run_state {
    RUN_QUEUED,
    RUN_LAUNCHING,
    RUN_WAITING_FOR_NODES,
    RUN_RENDEZVOUS,
    RUN_RUNNING,
    RUN_COMPLETED,
    RUN_FAILED,
    RUN_CANCELLED,
    RUN_STATE_COUNT
};

enum case_state {
    CASE_QUEUED,
    CASE_RENDEZVOUS,
    CASE_RUNNING,
    CASE_COMPLETED,
    CASE_FAILED,
    CASE_CANCELLED,
    CASE_SKIPPED,
    CASE_STATE_COUNT
};

enum rank_state {
    RANK_ASSIGNED,
    RANK_SPAWNED,
    RANK_JOINED,
    RANK_CONNECTED,
    RANK_RUNNING,
    RANK_DONE,
    RANK_FAILED,
    RANK_STATE_COUNT
};

struct run_node {
    char *name;
    int ranks;
    int first_rank;
    size_t number;  /* index among the run's nodes */
    json_t *labels; /* with a pattern: the node's labels when it was placed; or NULL */
};

/* In rank order. */
struct run_nodes {
    struct run_node *items;
    size_t n;
    int world_size;
};

struct run_rank {
    enum rank_state state;
    char *reason; /* why the rank failed, or NULL */
};

/* common/spec/run_matrix.h gives the case's repeat and variables. */
struct run_case {
    struct run_nodes on; /* borrows the run's names; items NULL: all of the run's nodes */
    size_t round;        /* of the pattern (run_plan.h); 0 without one */
    bool confirms;       /* it measures a suspect or an unusually slow run again */
    json_t *packed; /* the case in RUN_PACKED form until an event changes it; or NULL */
    struct headline headline; /* with a pattern, where each case has its own nodes */
    int attempt;              /* 0: never started */
    enum case_state state;
    char *reason;
    int64_t started_ms, ended_ms; /* 0: not yet */
    struct run_rank *ranks;       /* world_size entries once started, or NULL */
    int64_t wrong;                /* wrong elements in all its rows */
    char *first_wrong;            /* location of the first wrong element, or NULL */
    int first_wrong_rank;         /* -1: unknown */
    char **conditions;            /* one per node, see run_conditions.h; or NULL */
    struct carried carried;       /* network traffic of its nodes in the latest attempt */
    json_t *blamed;     /* the ranks or nodes blamed for its end (blame.h), or NULL */
    json_t *transports; /* the transports of its ranks (case_transport.h), or NULL */
};

struct run {
    char id[ID_RUN_LENGTH + 1];
    struct run_spec *spec;
    json_t *editable; /* its labels and notes (run_edit.h), kept apart from the spec */
    int64_t created_ms, started_ms, ended_ms;
    int64_t ran_ms,
        ran_at_ms; /* run time so far, and the time of that value, from its log */
    enum run_state state;
    char *reason;
    char *backend;              /* once placed */
    struct run_nodes pool;      /* once placed */
    json_t *nodes;              /* the nodes as in the run's document */
    struct split_groups groups; /* of ranks; once placed */
    json_t *machines;           /* the nodes' hardware (machine.h); NULL: unknown */
    json_t *own_verdicts;       /* from its events `placed` and `state` */
    json_t *verdicts; /* own_verdicts and the cases' verdicts, sorted; replaced, never
                         modified */
    struct run_case
        *cases;     /* NULL until the first event about a case, see run_open_cases */
    size_t n_cases; /* with a pattern: the cases of the rounds so far */
    size_t n_live;  /* cases under way */
    size_t rows_done, rows_total, rows_skipped;
    struct headline headline;
    struct noise noise;
    int64_t wrong;
    bool is_emulated;           /* according to its rows */
    struct run_metrics metrics; /* for a program */
    struct lateness *late;      /* in isolated timing, once there is a row; or NULL */
    json_t *curve;     /* [[size, busbw], ...] of the first out-of-place series */
    struct pace *pace; /* NULL until a case began */
};

/* Return a new run with every case queued. spec is taken, even on failure (NULL). */
struct run *run_create(const char *id, struct run_spec *spec, int64_t created_ms);
void run_destroy(struct run *run);

/* Return the run from a stored document in its initial state. Returns NULL with err
 * (ERROR_INVALID) if its spec is no longer valid. */
struct run *run_create_again(const json_t *doc, struct error *err);

/* Apply an event to the model; nothing else changes the model. Unknown types are
 * ignored. */
void run_fold(struct run *run, int64_t time_ms, const char *type, const json_t *body);

/* Apply a `result` event given as its record. about: the key from result_record_read(),
 * or the event's body. body: NULL if the record is complete. */
void run_fold_result(struct run *run, const struct result_record *record,
                     const json_t *about, const json_t *body);

/* Return the index into the run's matrix (run_matrix.h) for a case. Cases of different
 * rounds can share an index. */
size_t run_case_turn(const struct run *run, size_t index);

/* Return a new verdict on late ranks and slow transfers; NULL if no row has the data for
 * it. */
json_t *run_lateness(const struct run *run);

bool run_has_ended(const struct run *run);
bool case_has_ended(const struct run_case *c);

enum run_form {
    RUN_WHOLE,  /* as docs/reference/api.md shows it */
    RUN_PACKED, /* the same for other threads: run_packed.h */
    RUN_BRIEF,  /* without spec and cases */
    RUN_STORED  /* for the database while the run is active: without its cases */
};

/* A new reference. */
json_t *run_to_json(const struct run *run, enum run_form form);

/* Return the number of leading cases that have any state to show; the remaining cases
 * are all untouched. */
size_t run_begun_cases(const struct run *run);

const char *run_state_name(enum run_state state);
const char *case_state_name(enum case_state state);
const char *rank_state_name(enum rank_state state);

/* Return the state with that name, or -1. */
int rank_state_lookup(const char *name);

/* Return the state with that name, or CASE_QUEUED if the name is unknown. */
enum case_state case_state_lookup(const char *name);

#endif
