/* SPDX-License-Identifier: Apache-2.0 */
/* config_files.h - reads a directory of an administrator's files, each of which permits
 * commands to run: programs.d for agents, launchers.d for servers */
#ifndef RINGBENCH_COMMON_SPEC_CONFIG_FILES_H
#define RINGBENCH_COMMON_SPEC_CONFIG_FILES_H

#include <jansson.h>

#include "common/base/error.h"
#include "common/base/problem.h"

/* One file of the directory. `name` omits ".json"; if `content` is NULL, `err` gives the
 * reason. All members are borrowed. */
struct config_file {
    const char *name, *path, *dir;
    json_t *content;
    struct error err;
};

/* Callback for each file; a nonzero result ends the iteration. */
typedef int config_file_read(void *arg, const struct config_file *file);

/* Read DIR/NAME.json in the order of names. Return the last result of `read`, or -1 if
 * the directory is unreadable (ERROR_NOT_FOUND: absent) or writable by every user
 * (ERROR_INVALID), because any user could then decide which commands run. */
int config_files_read(const char *dir, config_file_read *read, void *arg,
                      struct error *err);

/* Callback that stores a file's content, or adds its errors. */
typedef void config_file_take(void *arg, const struct config_file *file,
                              struct problems *problems);

/* Read the directory (NULL: none) given by a server's option --WHAT, with at most `most`
 * files. Return -1 with the first error. */
int config_files_load(const char *dir, const char *what, size_t most,
                      config_file_take *take, void *arg, struct error *err);

/* Add a problem if `object` is not a JSON object, and for each of its keys that is not in
 * `known`, a list such as "a, b, c". An absent member (NULL) is valid. pointer: the
 * object's place in its file. */
void config_refuse_unknown(json_t *object, const char *pointer, const char *known,
                           struct problems *problems);

#endif
