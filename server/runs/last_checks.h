/* SPDX-License-Identifier: Apache-2.0 */
/* last_checks.h - what the checks of the latest runs came to, for those who watch for a
 * failure: of each check the last answer, told apart by the name of the run */
#ifndef RINGBENCH_SERVER_RUNS_LAST_CHECKS_H
#define RINGBENCH_SERVER_RUNS_LAST_CHECKS_H

#include <jansson.h>
#include <stdint.h>

/* Beyond so many the check that was answered longest ago is forgotten: names are the
 * users' own, and who collects metrics pays for each. */
#define LAST_CHECKS_MAX 200

/* Take in the verdict of a run that has ended. checks: [{"run_name","check","answer",
 * "time_ms"}], the latest first. */
void last_checks_note(json_t *checks, const char *run_name, int64_t time_ms,
                      const json_t *verdict);

#endif
