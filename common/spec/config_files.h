/* SPDX-License-Identifier: Apache-2.0 */
/* config_files.h - a directory of an administrator's files, each of which says what may
 * be run: programs.d of agents, launchers.d of servers */
#ifndef RINGBENCH_COMMON_SPEC_CONFIG_FILES_H
#define RINGBENCH_COMMON_SPEC_CONFIG_FILES_H

#include <jansson.h>

#include "common/base/error.h"
#include "common/base/problem.h"

/* One file: its name without ".json", and its content, or NULL with the reason. All of it
 * is borrowed. */
struct config_file {
    const char *name, *path, *dir;
    json_t *content;
    struct error err;
};

/* Not 0: no more of them. */
typedef int config_file_read(void *arg, const struct config_file *file);

/* Read DIR/NAME.json, in the order of names. What `read` gave last, or -1 when the
 * directory can't be read (ERROR_NOT_FOUND: there is none), or anybody may write to it
 * (ERROR_INVALID): they would decide what runs here. */
int config_files_read(const char *dir, config_file_read *read, void *arg,
                      struct error *err);

/* Take a file's content, or add what is wrong with it. */
typedef void config_file_take(void *arg, const struct config_file *file,
                              struct problems *problems);

/* Read the directory (NULL: there is none) that a server's option --WHAT names, with at
 * most so many files. -1 with the first fault. */
int config_files_load(const char *dir, const char *what, size_t most,
                      config_file_take *take, void *arg, struct error *err);

/* Add a problem where `object`, which is at `pointer` in its file, is not one (NULL: it
 * is left out), and for each of its keys that is none of `known`, written "a, b, c". */
void config_refuse_unknown(json_t *object, const char *pointer, const char *known,
                           struct problems *problems);

#endif
