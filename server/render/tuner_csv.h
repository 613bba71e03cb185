/* tuner_csv.h - which algorithm and protocol of NCCL was fastest, as the file that NCCL's
 * example tuner plugin loads (NVIDIA/nccl, plugins/tuner/example/plugin.c) */
#ifndef RINGBENCH_SERVER_RENDER_TUNER_CSV_H
#define RINGBENCH_SERVER_RENDER_TUNER_CSV_H

#include <jansson.h>

#include "common/base/buf.h"
#include "common/base/error.h"
#include "server/summary/summary.h"

/* By less than this a setting is not faster than NCCL's own choice. */
#define TUNER_GAIN_MIN 1.02

/* Append the file of a run whose matrix is of NCCL_ALGO and NCCL_PROTO. run: its
 * document; summary: by combination. channels: of each line; -1 keeps NCCL's. -1 with
 * *err when the run has nothing to tell (ERROR_INVALID). */
int tuner_csv(const json_t *run, const struct summary *summary, long channels,
              struct buf *out, struct error *err);

#endif
