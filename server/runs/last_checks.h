/* SPDX-License-Identifier: Apache-2.0 */
/* last_checks.h - keeps the latest answer of each check, by run name, for clients that
 * monitor failures */
#ifndef RINGBENCH_SERVER_RUNS_LAST_CHECKS_H
#define RINGBENCH_SERVER_RUNS_LAST_CHECKS_H

#include <jansson.h>
#include <stdint.h>

/* If there are more checks, the check with the oldest answer is dropped. Users choose the
 * names, and each name adds to the cost of collecting metrics. */
#define LAST_CHECKS_MAX 200

/* Add the verdict of an ended run. checks: [{"run_name","check","answer", "time_ms"}],
 * the latest first. */
void last_checks_note(json_t *checks, const char *run_name, int64_t time_ms,
                      const json_t *verdict);

#endif
