/* SPDX-License-Identifier: Apache-2.0 */
/* summary_answer.h - writes a run's summary as an answer of the API */
#ifndef RINGBENCH_SERVER_API_SUMMARY_ANSWER_H
#define RINGBENCH_SERVER_API_SUMMARY_ANSWER_H

#include <jansson.h>

#include "common/base/buf.h"
#include "server/summary/summary.h"

/* Return a new array, by combination number, of the environments and nodes that
 * distinguish the run's cases. May be called on any thread. */
json_t *summary_combinations(const json_t *run);

/* Append {"run": ..., "combinations": ..., ...} (docs/reference/api.md). run: the
 * document from which the summary was made. May be called on any thread. Return -1 when
 * `out` is full. */
int summary_answer_write(const json_t *run, const struct summary *summary,
                         struct buf *out);

#endif
