/* SPDX-License-Identifier: Apache-2.0 */
/* hook_runner.h - the commands of hooks that are due. On the loop's thread. */
#ifndef RINGBENCH_SERVER_WATCHES_HOOK_RUNNER_H
#define RINGBENCH_SERVER_WATCHES_HOOK_RUNNER_H

#include <jansson.h>
#include <stdint.h>

#include "common/base/error.h"
#include "server/watches/hook.h"

struct hook_runner;

/* The command of an action (actions.h) of the watch, which may be deleted meanwhile, has
 * ended: its state and output. */
typedef void hook_runner_ended(void *arg, const char *watch, json_t *action,
                               const char *state, const char *output);

/* dir: of the hooks, or NULL: there are none. */
struct hook_runner *hook_runner_create(const char *dir, hook_runner_ended *ended,
                                       void *arg, struct error *err);
/* Commands go on by themselves. NULL is fine. */
void hook_runner_free(struct hook_runner *runner);

/* The URL of this server (copied). */
void hook_runner_set_server(struct hook_runner *runner, const char *url);

/* Read the hooks again; -1 with the reason, and then those before stay. */
int hook_runner_reload(struct hook_runner *runner, struct error *err);

const struct hook_list *hook_runner_hooks(const struct hook_runner *runner);

/* Start all that are due of a watch's document; each stands in the database as due.
 * now_ms: of a monotonic clock. */
void hook_runner_start(struct hook_runner *runner, const json_t *watch, int64_t now_ms);

void hook_runner_tick(struct hook_runner *runner, int64_t now_ms);

#endif
