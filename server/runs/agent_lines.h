/* SPDX-License-Identifier: Apache-2.0 */
/* agent_lines.h - the lines that agents send, and what they mean to a run */
#ifndef RINGBENCH_SERVER_RUNS_AGENT_LINES_H
#define RINGBENCH_SERVER_RUNS_AGENT_LINES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "server/runs/cases.h"
#include "server/runs/run.h"

struct line_kind;
struct node;
struct run_log;
struct store_write;

/* A line, understood. */
struct agent_line {
    const struct line_kind *kind; /* NULL: nothing follows from it */
    char run[ID_RUN_LENGTH + 1];
    int case_no, attempt;
    struct live_case *live; /* that it is of, in this turn of the loop; or NULL */
    struct run_log *log;    /* of its run; or NULL */
    bool is_of_rank;        /* it says how far a rank has come */
    bool is_exit;           /* of a failure: nobody but its process said so */
    char *reason;           /* that the report has */
    const char *type;       /* of the run's event, or NULL: none */
    int64_t time_ms;        /* of that event */
    struct case_report report;
    struct store_write *write; /* of its batch, borrowed */
};

/* Understand a line of `node` (borrowed), which changes nothing but the write, into which
 * logs go: a line further on may have the whole batch refused. Release the line after
 * use. ERROR_INVALID when the node has no say in it. */
int agent_line_parse(const struct cases *cases, const struct node *node, json_t *json,
                     struct store_write *write, struct agent_line *line,
                     struct error *err);

/* Where both say of ranks of the node how far they have come, and as far: let the first
 * one's event say it of both. */
bool agent_line_join(struct agent_line *first, struct agent_line *line);

/* Fold the event of an accepted line, and put it into its write. What a rank said of its
 * end counts, and that its process ended says nothing more: then there is no event. */
void agent_line_fold(struct agent_line *line);

/* What the line means to its case, when all lines of the batch are folded: what follows
 * may be events too, which come behind all of these. Whether its node became free. */
bool agent_line_perform(struct agent_line *line, struct node *node);

/* Whether it is never stored. */
bool agent_line_is_passing(const struct agent_line *line);

void agent_line_release(struct agent_line *line);

#endif
