/* SPDX-License-Identifier: Apache-2.0 */
/* command_template.h - command lines with named parameters, from an administrator's file:
 * what agents run for programs (docs/reference/programs.md) and servers to get nodes
 * (docs/reference/launchers.md). In each argument {name} stands for a value, {config_dir}
 * for the directory of the file's kind, {{ and }} for the characters; no shell is
 * involved. */
#ifndef RINGBENCH_COMMON_SPEC_COMMAND_TEMPLATE_H
#define RINGBENCH_COMMON_SPEC_COMMAND_TEMPLATE_H

#include <jansson.h>

#include "common/base/error.h"
#include "common/base/problem.h"

/* One template with values[name] in it, to be freed; NULL with the reason. */
char *command_template_fill(const char *template, json_t *values, const char *config_dir,
                            struct error *err);

/* Check `argv`, an array of templates with values for all `names` (the keys of an
 * object), whose first is an executable. Its full path, to be freed; NULL after adding
 * faults to *problems, with pointers below `pointer`: it may be not NULL with faults. */
char *command_template_check(json_t *argv, const char *pointer, json_t *names,
                             const char *config_dir, struct problems *problems);

/* The variables of `env` (an object of templates, or NULL). What an administrator sets
 * needs no policy, but must be fit for an environment. A new object. */
json_t *command_template_env(json_t *env, json_t *values, const char *config_dir,
                             struct problems *problems);

/* Those of this program's variables that are none of its options, which may be secrets,
 * and then `own` (an object of strings). Ended by NULL, to be freed as below. */
char **command_template_environ(json_t *own);

/* The argument vector, ended by NULL, to be freed by command_template_free. NULL with the
 * first fault. */
char **command_template_argv(json_t *templates, json_t *values, const char *config_dir,
                             struct error *err);
void command_template_free(char **argv);

#endif
