/* SPDX-License-Identifier: Apache-2.0 */
/* run_listed.h - a run as a list of runs shows it: its document without what is long */
#ifndef RINGBENCH_SERVER_STORE_RUN_LISTED_H
#define RINGBENCH_SERVER_STORE_RUN_LISTED_H

#include <jansson.h>

/* A run's document without its longest members: verdicts without evidence, a short curve.
 * A new reference; the document stays as it is. */
json_t *run_listed(const json_t *doc);

#endif
