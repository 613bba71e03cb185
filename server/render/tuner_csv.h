/* SPDX-License-Identifier: Apache-2.0 */
/* tuner_csv.h - writes NCCL's fastest algorithm and protocol for each size as the file
 * that NCCL's example tuner plugin loads (NVIDIA/nccl, plugins/tuner/example/plugin.c) */
#ifndef RINGBENCH_SERVER_RENDER_TUNER_CSV_H
#define RINGBENCH_SERVER_RENDER_TUNER_CSV_H

#include <jansson.h>

#include "common/base/buf.h"
#include "common/base/error.h"
#include "server/summary/summary.h"

/* Smallest ratio of the default's time to a setting's time at which the setting counts as
 * faster. */
#define TUNER_GAIN_MIN 1.02

/* Append the file for a run whose matrix varies NCCL_ALGO and NCCL_PROTO. run: the run's
 * document. summary: the run's results by combination. channels: written to each line; -1
 * keeps NCCL's choice. Returns -1 with ERROR_INVALID if the run lacks the data, or
 * ERROR_LIMIT for too many combinations. */
int tuner_csv(const json_t *run, const struct summary *summary, long channels,
              struct buf *out, struct error *err);

#endif
