/* SPDX-License-Identifier: Apache-2.0 */
/* run_listed.h - shortens a run's document for a list of runs */
#ifndef RINGBENCH_SERVER_STORE_RUN_LISTED_H
#define RINGBENCH_SERVER_STORE_RUN_LISTED_H

#include <jansson.h>

/* Return a copy of the document for a list of runs. The copy lacks the longest members
 * and the evidence of verdicts, and its curve has fewer points. A new reference; the
 * document is not modified. */
json_t *run_listed(const json_t *doc);

#endif
