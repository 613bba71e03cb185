/* recall.h - what the stored results of a run add up to, for a server that takes it up */
#ifndef RINGBENCH_SERVER_RUNS_RECALL_H
#define RINGBENCH_SERVER_RUNS_RECALL_H

#include "server/runs/run.h"
#include "server/store/store.h"

/* Add to a restored run its results, their pace and what was said of the ranks of the
 * case under way. Of events it reads those of these ranks and some of the latest rows;
 * all other rows by their records. -1 with err. */
int recall_results(struct run *run, struct store_recall *recall, struct error *err);

#endif
