/* SPDX-License-Identifier: Apache-2.0 */
/* config_files.c - reads a directory of an administrator's files */
#include "common/spec/config_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/json_util.h"
#include "common/spec/spec_value.h"

#define FILE_MAX ((size_t)64 * 1024)
#define SUFFIX ".json"

static int is_config_file(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name), n = strlen(SUFFIX);

    return entry->d_name[0] != '.' && len > n &&
           strcmp(entry->d_name + len - n, SUFFIX) == 0;
}

/* Reject a directory that every user can write to. The sticky bit does not help, because
 * others can still add files. */
static int refuse_open_to_all(const char *path, struct error *err)
{
    struct stat st;

    if (stat(path, &st))
        return error_set_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, errno,
                               "cannot open %s", path);
    if (st.st_mode & S_IWOTH)
        return error_set(err, ERROR_INVALID,
                         "%s is writable by every user: run chmod o-w on it", path);
    return 0;
}

static int read_one(const char *dir, const char *entry, config_file_read *read, void *arg)
{
    char path[PATH_MAX], name[NAME_MAX + 1];
    struct config_file file = {.name = name, .path = path, .dir = dir};
    int result;

    snprintf(name, sizeof(name), "%.*s", (int)(strlen(entry) - strlen(SUFFIX)), entry);
    if (snprintf(path, sizeof(path), "%s/%s", dir, entry) >= (int)sizeof(path))
        error_set(&file.err, ERROR_LIMIT, "%.200s/%.100s is too long", dir, entry);
    else if (!refuse_open_to_all(path, &file.err))
        file.content = json_read_file(path, FILE_MAX, &file.err);
    result = read(arg, &file);
    json_decref(file.content);
    return result;
}

int config_files_read(const char *dir, config_file_read *read, void *arg,
                      struct error *err)
{
    struct dirent **entries = NULL;
    int n, result = 0;

    if (refuse_open_to_all(dir, err))
        return -1;
    n = scandir(dir, &entries, is_config_file, alphasort);
    if (n < 0)
        return error_set_errno(err, ERROR_IO, errno, "cannot read %s", dir);
    for (int i = 0; i < n; i++) {
        result = result ? result : read_one(dir, entries[i]->d_name, read, arg);
        free(entries[i]);
    }
    free(entries);
    return result;
}

struct loading {
    const char *what;
    size_t n, most;
    config_file_take *take;
    void *arg;
    struct error *err;
};

static int load_one(void *arg, const struct config_file *file)
{
    struct loading *loading = arg;
    struct problems problems;
    int result = 0;

    if (!file->content) {
        *loading->err = file->err;
        return -1;
    }
    if (loading->n++ == loading->most)
        return error_set(loading->err, ERROR_LIMIT, "%.200s contains more than %zu %s",
                         file->dir, loading->most, loading->what);
    problems_init(&problems);
    loading->take(loading->arg, file, &problems);
    if (problems.count > 0)
        result = problems_error(&problems, file->path, loading->err);
    problems_release(&problems);
    return result;
}

int config_files_load(const char *dir, const char *what, size_t most,
                      config_file_take *take, void *arg, struct error *err)
{
    struct loading loading = {what, 0, most, take, arg, err};
    char full[PATH_MAX];

    if (!dir)
        return 0;
    if (!realpath(dir, full))
        return error_set_errno(err, ERROR_IO, errno, "cannot read --%s %s", what, dir);
    return config_files_read(full, load_one, &loading, err);
}

static bool is_among(const char *key, const char *known)
{
    size_t len = strlen(key);

    for (; *known; known += strcspn(known, " "), known += *known == ' ')
        if (strncmp(known, key, len) == 0 && (known[len] == ',' || known[len] == 0))
            return true;
    return false;
}

void config_refuse_unknown(json_t *object, const char *pointer, const char *known,
                           struct problems *problems)
{
    const char *key;
    json_t *value;

    if (object && !json_is_object(object))
        problems_add(problems, pointer, "must be an object, not %s",
                     spec_type_name(object));
    json_object_foreach (object, key, value) {
        char at[300];

        spec_child_pointer(at, sizeof(at), pointer, key);
        if (!is_among(key, known))
            problems_add(problems, at, "unknown key; known keys are %s", known);
    }
}
