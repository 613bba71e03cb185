/* SPDX-License-Identifier: Apache-2.0 */
/* run_listed.h - a run as a list of runs shows it: its document without the long
 * members */
#ifndef RINGBENCH_SERVER_STORE_RUN_LISTED_H
#define RINGBENCH_SERVER_STORE_RUN_LISTED_H

#include <jansson.h>

/* A run's document without its longest members: verdicts without evidence, a shortened
 * curve. A new reference; the document is not modified. */
json_t *run_listed(const json_t *doc);

#endif
