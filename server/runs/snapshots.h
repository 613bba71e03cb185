/* snapshots.h - what a run's nodes said of themselves when it was placed, kept with it:
 * the text `inventory.json` of each node, see server/store/store_artifacts.h */
#ifndef RINGBENCH_SERVER_RUNS_SNAPSHOTS_H
#define RINGBENCH_SERVER_RUNS_SNAPSHOTS_H

struct active_run;

/* The run is placed. */
void snapshots_keep(struct active_run *active);

#endif
