/* SPDX-License-Identifier: Apache-2.0 */
/* program_list.c - reads the programs that this node offers from programs.d */
#include "agent/process/program_list.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/spec/config_files.h"

/* Limit of all declarations together in a registration. */
#define DECLARED_MAX ((size_t)256 * 1024)

struct program_list {
    struct program *programs[PROGRAMS_MAX];
    size_t n, declared_bytes;
};

struct reading {
    struct program_list *list;
    const char *config_dir;
};

static void log_faults(const char *path, const struct problems *problems)
{
    for (size_t i = 0; i < json_array_size(problems->errors); i++) {
        const json_t *fault = json_array_get(problems->errors, i);

        log_error("%s: %s: %s", path, json_get_str(fault, "pointer", ""),
                  json_get_str(fault, "detail", ""));
    }
    log_error("%s: this node does not offer the program", path);
}

static void add_program(struct program_list *list, struct program *program)
{
    json_t *declaration = program_to_json(program);
    size_t bytes = json_dumpb(declaration, NULL, 0, JSON_COMPACT);

    json_decref(declaration);
    if (list->n < PROGRAMS_MAX && list->declared_bytes + bytes <= DECLARED_MAX) {
        list->declared_bytes += bytes;
        list->programs[list->n++] = program;
        return;
    }
    log_error(
        "this node does not offer the program %s: there are more than %d programs, or "
        "their declarations exceed %zu bytes",
        program->name, PROGRAMS_MAX, DECLARED_MAX);
    program_destroy(program);
}

/* An invalid file is logged and skipped. */
static int add_file(void *arg, const struct config_file *file)
{
    struct reading *reading = arg;
    struct program *program;
    struct problems problems;

    if (!file->content) {
        log_error("%s; this node does not offer the program", file->err.text);
        return 0;
    }
    problems_init(&problems);
    program = program_parse(file->name, file->content, reading->config_dir, &problems);
    if (program)
        add_program(reading->list, program);
    else
        log_faults(file->path, &problems);
    problems_release(&problems);
    return 0;
}

struct program_list *program_list_load(const char *config_dir)
{
    char full[PATH_MAX], directory[PATH_MAX + 16];
    struct reading reading = {memory_zeroed(1, sizeof(*reading.list), "programs"), full};
    struct error why;

    if (!realpath(config_dir, full))
        return reading.list;
    snprintf(directory, sizeof(directory), "%s/programs.d", full);
    if (config_files_read(directory, add_file, &reading, &why) &&
        why.code != ERROR_NOT_FOUND)
        log_error("%s; this node offers no programs", why.text);
    return reading.list;
}

void program_list_destroy(struct program_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->n; i++)
        program_destroy(list->programs[i]);
    free(list);
}

const struct program *program_list_find(const struct program_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->programs[i]->name, name) == 0)
            return list->programs[i];
    return NULL;
}

json_t *program_list_json(const struct program_list *list)
{
    json_t *out = json_array();

    for (size_t i = 0; i < list->n; i++)
        json_array_append_new(out, program_to_json(list->programs[i]));
    return out;
}
