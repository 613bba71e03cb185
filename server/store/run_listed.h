/* run_listed.h - a run as a list of runs shows it: its document without what is long */
#ifndef RINGBENCH_SERVER_STORE_RUN_LISTED_H
#define RINGBENCH_SERVER_STORE_RUN_LISTED_H

#include <jansson.h>

/* A run's document without its longest members, with short verdicts and a short curve. A
 * new reference; the document stays as it is. */
json_t *run_listed(const json_t *doc);

/* A verdict without its evidence. A new reference. */
json_t *verdict_brief(const json_t *verdict);

#endif
