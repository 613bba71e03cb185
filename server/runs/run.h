/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - builds the model of a run from its events. Uses no sockets, clock or store.
 * Replaying a run's events gives the same model and a byte-identical document. */
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
    size_t number; /* index among the run's nodes */
    /* with a pattern: the node's labels at the time of placement; or NULL */
    json_t *labels;
};

/* The nodes of a run or a case, in the order of their ranks. */
struct run_nodes {
    struct run_node *items;
    size_t n;
    int world_size;
};

struct run_rank {
    enum rank_state state;
    char *reason; /* why the rank failed, or NULL */
};

/* common/spec/run_matrix.h derives the case's repeat and variables from its index. */
struct run_case {
    struct run_nodes on; /* borrows the run's names; if items is NULL, the case uses all
                            nodes of the run */
    size_t round;        /* number of the round (run_plan.h); 0 without a pattern */
    bool confirms;       /* true if the case repeats the measurement of a suspect or of an
                            unusually slow run */
    json_t *packed;      /* cached RUN_PACKED form of the case, or NULL after an event has
                            changed the case */
    /* used only with a pattern, where the cases run on different nodes */
    struct headline headline;
    int attempt; /* number of the latest attempt; 0: never started */
    enum case_state state;
    char *reason;
    int64_t started_ms, ended_ms; /* 0: not yet */
    struct run_rank *ranks;       /* world_size entries once started, or NULL */
    int64_t wrong;                /* number of wrong elements in all rows */
    char *first_wrong;            /* location of the first wrong element, or NULL */
    int first_wrong_rank;         /* rank of the first wrong element; -1: unknown */
    char **conditions; /* one text for each node, see run_conditions.h; or NULL */
    /* network traffic of the case's nodes in the latest attempt */
    struct carried carried;
    json_t *blamed; /* the ranks or nodes blamed for the case's end (blame.h), or NULL */
    /* the transports of the case's ranks (case_transport.h), or NULL */
    json_t *transports;
};

struct run {
    char id[ID_RUN_LENGTH + 1];
    struct run_spec *spec;
    json_t *editable; /* the current labels and notes (run_edit.h); the spec keeps the
                         original labels */
    int64_t created_ms, started_ms, ended_ms;
    int64_t ran_ms, ran_at_ms; /* run time in the latest event that contains it, and the
                                  time of this event */
    enum run_state state;
    char *reason;
    char *backend;              /* NULL until placed */
    struct run_nodes pool;      /* empty until placed */
    json_t *nodes;              /* the nodes as in the run's document */
    struct split_groups groups; /* groups of ranks; empty until placed */
    json_t *machines;           /* the nodes' hardware (machine.h); NULL: unknown */
    json_t *own_verdicts;       /* verdicts from the events `placed` and `state` */
    json_t *verdicts; /* own_verdicts and the cases' verdicts, sorted; an update replaces
                         the array and never modifies it */
    struct run_case *cases; /* NULL until the first event that changes a case */
    size_t n_cases;         /* with a pattern: number of cases in the rounds so far */
    size_t n_live;          /* number of cases under way */
    size_t rows_done, rows_total, rows_skipped;
    struct headline headline;
    struct noise noise;
    int64_t wrong;
    bool is_emulated;           /* true if a row is marked as emulated */
    struct run_metrics metrics; /* metrics that a program printed */
    struct lateness *late;      /* with isolated timing, after the first row; or NULL */
    json_t *curve;     /* [[size, busbw], ...] of the first case's first series */
    struct pace *pace; /* NULL until a case has begun */
};

/* Return a new run with every case queued, or NULL on failure. Takes ownership of spec,
 * even on failure. */
struct run *run_create(const char *id, struct run_spec *spec, int64_t created_ms);
void run_destroy(struct run *run);

/* Return the run of a stored document, in its initial state. Returns NULL with err
 * (ERROR_INVALID) if this server rejects the stored spec. */
struct run *run_create_again(const json_t *doc, struct error *err);

/* Apply an event to the model; nothing else changes the model. Unknown types are
 * ignored. */
void run_fold(struct run *run, int64_t time_ms, const char *type, const json_t *body);

/* Apply a `result` event that is given as a record. about: the key from
 * result_record_read(), or the event's body. body: NULL if the record is complete. */
void run_fold_result(struct run *run, const struct result_record *record,
                     const json_t *about, const json_t *body);

/* Return the index into the run's matrix (run_matrix.h) for a case. Cases of different
 * rounds can share an index. */
size_t run_case_turn(const struct run *run, size_t index);

/* Return a new verdict on late ranks and slow transfers; NULL if no row contains the
 * necessary data. */
json_t *run_lateness(const struct run *run);

bool run_has_ended(const struct run *run);
bool case_has_ended(const struct run_case *c);

enum run_form {
    RUN_WHOLE,  /* as docs/reference/api.md shows it */
    RUN_PACKED, /* the same, readable by other threads (run_packed.h) */
    RUN_BRIEF,  /* without spec and cases */
    RUN_STORED  /* for the database while the run is active: without its cases */
};

/* Return the run as JSON in the given form (a new reference). */
json_t *run_to_json(const struct run *run, enum run_form form);

/* Return 1 + the index of the last case that any event has changed, or 0. */
size_t run_begun_cases(const struct run *run);

const char *run_state_name(enum run_state state);
const char *case_state_name(enum case_state state);
const char *rank_state_name(enum rank_state state);

/* Return the state with that name, or -1. */
int rank_state_lookup(const char *name);

/* Return the state with that name, or CASE_QUEUED if the name is unknown. */
enum case_state case_state_lookup(const char *name);

#endif
