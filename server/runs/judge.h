/* judge.h - the end of a run: its values, and what its checks come to */
#ifndef RINGBENCH_SERVER_RUNS_JUDGE_H
#define RINGBENCH_SERVER_RUNS_JUDGE_H

#include "common/base/ids.h"
#include "server/store/store_work.h"

struct judgement {
    /* A run that completed and whose checks need its results, all of which are on disk:
     * its document, that of its end (run_packed.h). Or NULL: a run that has ended and
     * whose values are due. */
    json_t *doc;
    struct store_base_query
        base;            /* doc: what it is compared with; its `run` is set here */
    char not_again[256]; /* doc: why it cannot be measured again; "": it can */
    char run[ID_RUN_LENGTH + 1]; /* no doc: which; "": the newest that is due */
    size_t skip;                 /* no doc: pass over as many newer runs */

    /* What came of it. */
    json_t *values;  /* as store_write_values takes them; NULL: none are due */
    json_t *verdict; /* of the checks (gate_judge); NULL without doc */
};

/* On a thread of the store (store_work.h). -1 with err where values that are due cannot
 * be made. */
int judge(sqlite3 *db, struct judgement *judgement, struct error *err);
void judgement_release(struct judgement *judgement);

#endif
