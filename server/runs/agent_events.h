/* agent_events.h - what an agent's event lines mean to a run */
#ifndef RINGBENCH_SERVER_RUNS_AGENT_EVENTS_H
#define RINGBENCH_SERVER_RUNS_AGENT_EVENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "server/runs/run.h"

struct active_run;
struct node;
struct scheduler;
struct store_write;

enum action_kind {
    ACTION_NONE,        /* stored as seen, nothing follows (logs, strangers) */
    ACTION_RANK,        /* a rank's state changed */
    ACTION_EXITED_WELL, /* a worker exited 0 */
    ACTION_RESULT,
    ACTION_OUTPUT,   /* a program printed something */
    ACTION_PROGRESS, /* body: the line */
    ACTION_MESSAGE,
    ACTION_REFUSED,
    ACTION_STACK, /* what a rank that was asked for it is doing */
    ACTION_RAS,
    ACTION_UNREACHED, /* a rank cannot reach another */
    ACTION_NCCL,      /* a message, and what NCCL's log said of a rank */
    ACTION_GONE
};

/* One line, understood. */
struct action {
    enum action_kind kind;
    char run[ID_RUN_LENGTH + 1];
    struct active_run *active; /* counted in its `pending`, or NULL: an unknown run */
    int case_no, attempt;
    int rank;              /* -1: none */
    enum rank_state state; /* ACTION_RANK */
    bool is_exit;          /* ACTION_RANK failed: nobody but its process said so */
    int peer;              /* ACTION_RANK failed: the rank it blames, or -1 */
    char *reason;          /* ACTION_RANK failed, ACTION_REFUSED; ACTION_GONE or NULL */
    const char *type;      /* of the run event that is stored, or NULL: none */
    json_t *body;          /* of that event; what was seen of the others with one */
    int64_t time_ms;       /* of that event */
};

/* Understand a line of `node` (borrowed), which changes nothing but the write, into which
 * logs go: a line further on may have the whole batch refused. Release the action after
 * use. ERROR_INVALID when the node has no say in it. */
int action_parse(struct scheduler *scheduler, const struct node *node, json_t *line,
                 struct store_write *write, struct action *action, struct error *err);

/* Where both say of ranks of the node how far they have come, and as far: let the first
 * one's event say it of both. */
bool action_join(struct action *first, struct action *action);

/* Put the event of an accepted line into the write, those of a batch in their order. What
 * a rank said of its end counts, and that its process ended says nothing more: then there
 * is no event. -1 when memory is out. */
int action_write(struct action *action, struct store_write *write);

/* Let the run's model take the event. */
void action_apply(const struct action *action);

/* Then the case, what the line means to it. */
void action_perform(struct action *action, const struct node *node);

void action_release(struct action *action);

#endif
