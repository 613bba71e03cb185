/* program_list.c - the programs that this node offers, from programs.d */
#include "agent/process/program_list.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/json_util.h"
#include "common/base/log.h"

#define FILE_MAX ((size_t)64 * 1024)
#define SUFFIX ".json"
/* What the server is told, all programs together: a registration takes 1 MiB. */
#define TOLD_MAX ((size_t)256 * 1024)

struct program_list {
    struct program *programs[PROGRAMS_MAX];
    size_t n, told_bytes;
};

static void log_faults(const char *path, const struct problems *problems)
{
    for (size_t i = 0; i < json_array_size(problems->errors); i++) {
        const json_t *fault = json_array_get(problems->errors, i);

        log_error("%s: %s: %s", path, json_get_str(fault, "pointer", ""),
                  json_get_str(fault, "detail", ""));
    }
    log_error("%s is left out: this node does not offer that program", path);
}

/* What others may write, others would decide to run here. */
static int check_owner(const char *path, struct error *err)
{
    struct stat st;

    if (stat(path, &st))
        return error_set_errno(err, ERROR_IO, errno, "can't open %s", path);
    if (st.st_mode & S_IWOTH)
        return error_set(err, ERROR_INVALID, "%s can be written by anybody", path);
    return 0;
}

static struct program *load_file(const char *config_dir, const char *directory,
                                 const char *file)
{
    char path[PATH_MAX], name[NAME_MAX + 1];
    struct program *program = NULL;
    struct problems problems;
    struct error err;
    json_t *content = NULL;

    snprintf(name, sizeof(name), "%.*s", (int)(strlen(file) - strlen(SUFFIX)), file);
    if (snprintf(path, sizeof(path), "%s/%s", directory, file) >= (int)sizeof(path))
        return NULL;
    if (!check_owner(path, &err))
        content = json_read_file(path, FILE_MAX, &err);
    if (!content) {
        log_error("%s; this node does not offer that program", err.text);
        return NULL;
    }
    problems_init(&problems);
    program = program_parse(name, content, config_dir, &problems);
    if (!program)
        log_faults(path, &problems);
    problems_release(&problems);
    json_decref(content);
    return program;
}

static int is_program_file(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name), n = strlen(SUFFIX);

    return entry->d_name[0] != '.' && len > n &&
           strcmp(entry->d_name + len - n, SUFFIX) == 0;
}

static void add_program(struct program_list *list, struct program *program)
{
    json_t *told = program_to_json(program);
    size_t bytes = json_dumpb(told, NULL, 0, JSON_COMPACT);

    json_decref(told);
    if (list->n < PROGRAMS_MAX && list->told_bytes + bytes <= TOLD_MAX) {
        list->told_bytes += bytes;
        list->programs[list->n++] = program;
        return;
    }
    log_error(
        "program %s is left out: there are more than %d, or their declarations take "
        "more than %zu bytes",
        program->name, PROGRAMS_MAX, TOLD_MAX);
    program_destroy(program);
}

static void load_files(struct program_list *list, const char *config_dir,
                       const char *directory, struct dirent **entries, int n)
{
    for (int i = 0; i < n; i++) {
        struct program *program = load_file(config_dir, directory, entries[i]->d_name);

        if (program)
            add_program(list, program);
        free(entries[i]);
    }
    free(entries);
}

struct program_list *program_list_load(const char *config_dir, struct error *err)
{
    struct program_list *list = calloc(1, sizeof(*list));
    char full[PATH_MAX], directory[PATH_MAX + 16];
    struct dirent **entries = NULL;
    int n;

    if (!list) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    if (!realpath(config_dir, full))
        return list;
    snprintf(directory, sizeof(directory), "%s/programs.d", full);
    n = scandir(directory, &entries, is_program_file, alphasort);
    if (n < 0 && errno != ENOENT)
        log_error("can't read %s: %s; this node offers no programs", directory,
                  strerror(errno));
    load_files(list, full, directory, entries, n);
    return list;
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
