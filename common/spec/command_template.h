/* SPDX-License-Identifier: Apache-2.0 */
/* command_template.h - fills in command lines with named parameters from an
 * administrator's file: programs that agents run (docs/reference/programs.md) and
 * commands by which servers get nodes (docs/reference/launchers.md). In each argument
 * {name} is replaced with a value, {config_dir} with the directory of this kind of file,
 * and {{ and }} with single braces. No shell is involved. */
#ifndef RINGBENCH_COMMON_SPEC_COMMAND_TEMPLATE_H
#define RINGBENCH_COMMON_SPEC_COMMAND_TEMPLATE_H

#include <jansson.h>

#include "common/base/error.h"
#include "common/base/problem.h"

/* Return the template with its parameters replaced by values[name], or NULL with the
 * reason. The caller frees the result. */
char *command_template_fill(const char *template, json_t *values, const char *config_dir,
                            struct error *err);

/* Check `argv`, an array of templates that may use the parameters in `names` (the keys of
 * an object). The first element must be an executable. Return its full path, which the
 * caller frees, or NULL. Errors are added to *problems with pointers below `pointer`,
 * possibly even if a path is returned. */
char *command_template_check(json_t *argv, const char *pointer, json_t *names,
                             const char *config_dir, struct problems *problems);

/* Return the environment variables in `env` (an object of templates, or NULL) as a new
 * object. An administrator's variables are not restricted by env_policy.h, but must be
 * valid in an environment. */
json_t *command_template_env(json_t *env, json_t *values, const char *config_dir,
                             struct problems *problems);

/* Return this program's environment without its options, which may be secrets, followed
 * by `own` (an object of strings). The array ends with NULL and is freed with
 * command_template_free(). */
char **command_template_environ(json_t *own);

/* Return the argument vector, which ends with NULL and is freed with
 * command_template_free(), or NULL with the first error. */
char **command_template_argv(json_t *templates, json_t *values, const char *config_dir,
                             struct error *err);
void command_template_free(char **argv);

#endif
