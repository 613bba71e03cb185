/* SPDX-License-Identifier: Apache-2.0 */
/* agent_lines.h - parses the lines that agents send and applies them to runs */
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

/* A parsed line from an agent. */
struct agent_line {
    const struct line_kind *kind; /* NULL: the line has no effect */
    char run[ID_RUN_LENGTH + 1];
    int case_no, attempt;
    struct live_case *live; /* the line's case, valid in this turn of the loop; or NULL */
    struct run_log *log;    /* the log of the line's run; or NULL */
    bool is_of_rank;        /* the line reports a rank's state */
    /* the line reports that a process failed; false if the worker itself reported an
     * error */
    bool is_exit;
    char *reason;     /* owned text behind report.reason, or NULL */
    const char *type; /* type of the resulting run event; NULL: no event */
    int64_t time_ms;  /* time of the resulting event, wall clock */
    struct case_report report;
    struct store_write *write; /* the write transaction of the line's batch, borrowed */
};

/* Parse a line from `node` (borrowed). Parsing changes nothing except that output is
 * added to `write`, since a later line may cause the whole batch to be rejected. Fails
 * with ERROR_INVALID if the node may not send the line. Release the line after use. */
int agent_line_parse(const struct cases *cases, const struct node *node, json_t *json,
                     struct store_write *write, struct agent_line *line,
                     struct error *err);

/* Merge `line` into `first` if both report the same state for ranks of the node. The
 * event of `first` then covers both. Returns true if the lines were merged. */
bool agent_line_join(struct agent_line *first, struct agent_line *line);

/* Apply the event of an accepted line to the run, and add the event to the line's write.
 * A process exit yields no event if its rank has already reported a final state. */
void agent_line_fold(struct agent_line *line);

/* Apply the line to its case. First call agent_line_fold() for all lines of the batch,
 * since the case may append further events. Returns true if the node became free. */
bool agent_line_perform(struct agent_line *line, struct node *node);

/* Return true if the line is transient and never stored. */
bool agent_line_is_passing(const struct agent_line *line);

void agent_line_release(struct agent_line *line);

#endif
