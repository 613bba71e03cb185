/* case_values_read.h - what each case of a run has measured, out of the store */
#ifndef RINGBENCH_SERVER_RUNS_CASE_VALUES_READ_H
#define RINGBENCH_SERVER_RUNS_CASE_VALUES_READ_H

#include <uv.h>

#include "server/analysis/case_values.h"
#include "server/store/store.h"

/* Runs once, on the loop, perhaps at once. values, and of_run if it was asked for, are
 * given away; NULL with err on failure. */
typedef void case_values_done(void *arg, const struct error *err,
                              struct case_values *values, json_t *of_run);

/* run: its document, which is read on other threads until `done`. is_whole: what the run
 * came to is asked for too (run_values.h). loop and store are borrowed. */
void case_values_read(uv_loop_t *loop, struct store *store, const json_t *run,
                      bool is_whole, case_values_done *done, void *arg);

#endif
