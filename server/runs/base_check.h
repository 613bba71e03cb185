/* base_check.h - a run that is over, compared with its baseline or the last runs like it
 */
#ifndef RINGBENCH_SERVER_RUNS_BASE_CHECK_H
#define RINGBENCH_SERVER_RUNS_BASE_CHECK_H

#include <jansson.h>
#include <uv.h>

#include "server/store/store_trends.h"

/* What came of it. Without `document` there is no comparison, and `why` says why. */
struct base_answer {
    json_t *document; /* as /compare answers it; borrowed */
    json_t *again;    /* the same for the cases that measured the run again, or NULL */
    json_t *against;  /* the ids of the runs; borrowed */
    json_t *lasting;  /* {"accepted": run or null, "changes": as of lasting_changes.h};
                         borrowed, or NULL */
    const char *why;
};

/* Runs once, on the loop. */
typedef void base_checked(void *arg, const struct base_answer *answer);

/* Compare the run with the base that the query asks for, but for its `run`. doc: the
 * run's document (docs/api.md), its state that of its end; taken, and read on other
 * threads. All of its results must be on disk. loop and store are borrowed. */
void base_check_start(uv_loop_t *loop, struct store *store, json_t *doc,
                      const struct store_base_query *query, base_checked *done,
                      void *arg);

#endif
