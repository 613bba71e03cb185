/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - the model of a run: what its events add up to. Knows no sockets, no clock and
 * no store; replaying a run's events gives the same model, to the byte of its document.
 */
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
    size_t number;  /* among the run's nodes */
    json_t *labels; /* with a pattern, as the node had them; or NULL */
};

/* In the order of their ranks. */
struct run_nodes {
    struct run_node *items;
    size_t n;
    int world_size;
};

struct run_rank {
    enum rank_state state;
    char *reason; /* why the rank failed, or NULL */
};

/* Its repeat and variables are common/spec/run_matrix.h's to say. */
struct run_case {
    struct run_nodes on; /* names are the run's; items NULL: all of the run's nodes */
    size_t round;        /* of the pattern (run_plan.h); 0 without one */
    bool confirms;       /* it measures a suspect again, or what was slower than usual */
    json_t *packed;      /* as RUN_PACKED has it, until an event changes it; or NULL */
    struct headline headline; /* with a pattern: cases on other nodes have others */
    int attempt;              /* 0: never started */
    enum case_state state;
    char *reason;
    int64_t started_ms, ended_ms; /* 0: not yet */
    struct run_rank *ranks;       /* world_size of its nodes once started, or NULL */
    int64_t wrong;                /* wrong elements over its rows */
    char *first_wrong;            /* where the first one was, or NULL */
    int first_wrong_rank;         /* -1: it does not say */
    char **conditions;            /* by node, see run_conditions.h; or NULL */
    struct carried carried;       /* by the ports of its nodes */
    json_t *blamed;               /* whom its end names (blame.h), or NULL */
    json_t *transports; /* the ways its bytes went (case_transport.h), or NULL */
};

struct run {
    char id[ID_RUN_LENGTH + 1];
    struct run_spec *spec;
    json_t
        *editable; /* its labels and notes (run_edit.h), which the spec does not follow */
    int64_t created_ms, started_ms, ended_ms;
    int64_t ran_ms, ran_at_ms; /* how long it had run, as of when, by its log */
    enum run_state state;
    char *reason;
    char *backend;              /* once placed */
    struct run_nodes pool;      /* once placed */
    json_t *nodes;              /* the same as its document has it */
    struct split_groups groups; /* of ranks; once placed */
    json_t *machines;           /* what the nodes are (machine.h); NULL: not known */
    json_t *own_verdicts;       /* of its events `placed` and `state` */
    json_t *verdicts;       /* these and its cases', sorted; replaced, never changed */
    struct run_case *cases; /* NULL until something is known of one, see run_open_cases */
    size_t n_cases;         /* with a pattern: those of the rounds so far */
    size_t n_live;          /* that have begun and not ended */
    size_t rows_done, rows_total, rows_skipped;
    struct headline headline;
    struct noise noise;
    int64_t wrong;
    bool is_emulated;           /* its rows say so */
    struct run_metrics metrics; /* of a program */
    struct lateness *late;      /* in isolated timing, once there is a row; or NULL */
    json_t *curve;     /* [[size, busbw], ...] of the first out-of-place series */
    struct pace *pace; /* NULL until a case began */
};

/* A run with every case queued. spec is taken, also on failure (NULL). */
struct run *run_create(const char *id, struct run_spec *spec, int64_t created_ms);
void run_destroy(struct run *run);

/* The run of a stored document, as it was created. NULL with err (ERROR_INVALID) when its
 * spec is not valid any more. */
struct run *run_create_again(const json_t *doc, struct error *err);

/* Let an event change the model: nothing else does. Unknown types change nothing. */
void run_fold(struct run *run, int64_t time_ms, const char *type, const json_t *body);

/* The same for an event `result` that is known by its record. about: what
 * result_record_read calls its key, or its body. body: NULL if the record says all. */
void run_fold_result(struct run *run, const struct result_record *record,
                     const json_t *about, const json_t *body);

/* Which of the cases that the matrix makes of the same nodes it is: what run_matrix.h
 * asks for. */
size_t run_case_turn(const struct run *run, size_t index);

/* Whether a rank comes late, or a transfer is slow; slow: what says so of the run, or
 * NULL. A new verdict; NULL where no row can tell it. */
json_t *run_lateness(const struct run *run);

bool run_has_ended(const struct run *run);
bool case_has_ended(const struct run_case *c);

enum run_form {
    RUN_WHOLE,  /* as docs/reference/api.md shows it */
    RUN_PACKED, /* the same for other threads: run_packed.h */
    RUN_BRIEF,  /* without spec and cases */
    RUN_STORED  /* for the database before it has ended: without its cases */
};

/* A new reference. */
json_t *run_to_json(const struct run *run, enum run_form form);

/* How many cases there is something to say of: all others come behind them. */
size_t run_begun_cases(const struct run *run);

const char *run_state_name(enum run_state state);
const char *case_state_name(enum case_state state);
const char *rank_state_name(enum rank_state state);

/* -1 for a name that is none. */
int rank_state_lookup(const char *name);

/* CASE_QUEUED for a name that is none. */
enum case_state case_state_lookup(const char *name);

#endif
