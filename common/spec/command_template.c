/* SPDX-License-Identifier: Apache-2.0 */
/* command_template.c - fills in command lines with named parameters from an
 * administrator's file */
#include "common/spec/command_template.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/memory.h"
#include "common/spec/program_schema.h"
#include "common/spec/spec_value.h"

#define ARGUMENT_MAX ((size_t)16384)
#define ARGV_MAX 256
#define ENV_MAX 64

static int append(struct buf *out, const char *text, size_t len, struct error *err)
{
    if (!buf_append(out, text, len))
        return 0;
    return error_set(err, ERROR_LIMIT,
                     "is longer than %zu bytes with its parameters filled in",
                     ARGUMENT_MAX);
}

static int append_value(struct buf *out, const char *name, json_t *values,
                        const char *config_dir, struct error *err)
{
    json_t *value = json_object_get(values, name);
    char *text;
    int result;

    if (!value && strcmp(name, "config_dir") == 0)
        return append(out, config_dir, strlen(config_dir), err);
    if (!value)
        return error_set(err, ERROR_INVALID, "{%s} is not a declared parameter", name);
    text = program_value_text(value);
    result = append(out, text, strlen(text), err);
    free(text);
    return result;
}

/* Append the piece of the template at *at, either text or a parameter's value, and move
 * *at past it. */
static int append_piece(struct buf *out, const char **at, json_t *values,
                        const char *config_dir, struct error *err)
{
    const char *text = *at;
    const char *close = strchr(text, '}');
    char name[PROGRAM_NAME_MAX + 1];
    size_t len;

    if ((text[0] == '{' || text[0] == '}') && text[1] == text[0]) {
        *at += 2;
        return append(out, text, 1, err);
    }
    if (text[0] == '}' || (text[0] == '{' && !close))
        return error_set(err, ERROR_INVALID,
                         "contains a single %c; write {{ or }} for the character itself",
                         text[0]);
    if (text[0] != '{') {
        len = strcspn(text, "{}");
        *at += len;
        return append(out, text, len, err);
    }
    len = (size_t)(close - text) - 1;
    if (len > PROGRAM_NAME_MAX)
        return error_set(err, ERROR_INVALID, "{%.*s...} is not a declared parameter",
                         PROGRAM_NAME_MAX, text + 1);
    memcpy(name, text + 1, len);
    name[len] = '\0';
    *at = close + 1;
    return append_value(out, name, values, config_dir, err);
}

char *command_template_fill(const char *template, json_t *values, const char *config_dir,
                            struct error *err)
{
    struct buf out;

    buf_init(&out, ARGUMENT_MAX);
    while (*template) {
        if (append_piece(&out, &template, values, config_dir, err)) {
            buf_release(&out);
            return NULL;
        }
    }
    return buf_detach(&out, NULL);
}

/* ---- Checks ---- */

/* Find an executable's full path as execvp() would. */
static bool find_in_path(const char *name, char out[PATH_MAX])
{
    const char *at = getenv("PATH");

    for (at = at ? at : "/usr/bin:/bin"; *at; at += *at == ':') {
        size_t len = strcspn(at, ":");
        int n = snprintf(out, PATH_MAX, "%.*s/%s", (int)len, at, name);

        if (len > 0 && n < PATH_MAX && access(out, X_OK) == 0)
            return true;
        at += len;
        if (!*at)
            break;
    }
    return false;
}

/* Return the full path, which the caller frees, or NULL after adding a problem. */
static char *find_executable(const char *first, const char *pointer,
                             const char *config_dir, struct problems *problems)
{
    char path[PATH_MAX];
    struct error err;
    char *name = command_template_fill(first, NULL, config_dir, &err), *found = NULL;

    if (!name)
        problems_add(problems, pointer, "%s; the executable itself cannot be a parameter",
                     err.text);
    else if (strchr(name, '/') && name[0] != '/')
        problems_add(problems, pointer,
                     "must be an absolute path or a name that is looked up in PATH");
    else if (name[0] == '/' && access(name, X_OK) == 0)
        found = memory_text(name, "a command");
    else if (name[0] != '/' && find_in_path(name, path))
        found = memory_text(path, "a command");
    else
        problems_add(problems, pointer, "%.200s cannot be executed on this machine",
                     name);
    free(name);
    return found;
}

/* Return an object with a placeholder value for each name. */
static json_t *stand_ins(json_t *names)
{
    json_t *values = json_object(), *value;
    const char *name;

    json_object_foreach (names, name, value)
        json_object_set_new(values, name, json_string(""));
    return values;
}

static bool are_strings(const json_t *argv, const char *pointer,
                        struct problems *problems)
{
    size_t n = json_array_size(argv);
    char at[300];

    if (n == 0 || n > ARGV_MAX) {
        problems_add(problems, pointer, "must be an array of 1 to %d strings", ARGV_MAX);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (json_is_string(json_array_get(argv, i)))
            continue;
        snprintf(at, sizeof(at), "%s/%zu", pointer, i);
        problems_add(problems, at, "must be a string");
        return false;
    }
    return true;
}

char *command_template_check(json_t *argv, const char *pointer, json_t *names,
                             const char *config_dir, struct problems *problems)
{
    json_t *values = stand_ins(names);
    size_t before = problems->count;
    char at[300], *path = NULL;

    if (are_strings(argv, pointer, problems)) {
        snprintf(at, sizeof(at), "%s/0", pointer);
        path = find_executable(json_string_value(json_array_get(argv, 0)), at, config_dir,
                               problems);
    }
    for (size_t i = 1; problems->count == before && i < json_array_size(argv); i++) {
        struct error err;
        char *made = command_template_fill(json_string_value(json_array_get(argv, i)),
                                           values, config_dir, &err);

        snprintf(at, sizeof(at), "%s/%zu", pointer, i);
        if (!made)
            problems_add(problems, at, "%s", err.text);
        free(made);
    }
    json_decref(values);
    return path;
}

json_t *command_template_env(json_t *env, json_t *values, const char *config_dir,
                             struct problems *problems)
{
    json_t *out = json_object(), *value;
    const char *name;

    if (env && (!json_is_object(env) || json_object_size(env) > ENV_MAX)) {
        problems_add(problems, "/env", "must be an object of at most %d strings",
                     ENV_MAX);
        return out;
    }
    json_object_foreach (env, name, value) {
        const char *text = json_string_value(value);
        struct error err = {.text = "must be a string"};
        char pointer[300];
        char *made = text ? command_template_fill(text, values, config_dir, &err) : NULL;

        spec_child_pointer(pointer, sizeof(pointer), "/env", name);
        if (!*name || strchr(name, '='))
            problems_add(problems, pointer, "is not a valid variable name");
        else if (!made)
            problems_add(problems, pointer, "%s", err.text);
        else
            json_object_set_new(out, name, json_string(made));
        free(made);
    }
    return out;
}

/* ---- Use ---- */

char **command_template_argv(json_t *templates, json_t *values, const char *config_dir,
                             struct error *err)
{
    size_t n = json_array_size(templates);
    char **argv = memory_zeroed(n + 1, sizeof(*argv), "a command");

    for (size_t i = 0; argv && i < n; i++) {
        argv[i] = command_template_fill(json_string_value(json_array_get(templates, i)),
                                        values, config_dir, err);
        if (!argv[i]) {
            error_prefix(err, "argument %zu", i);
            command_template_free(argv);
            argv = NULL;
        }
    }
    return argv;
}

static bool is_set(const json_t *own, const char *variable)
{
    char name[256];

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(variable, "="), variable);
    return json_object_get(own, name) != NULL;
}

char **command_template_environ(json_t *own)
{
    size_t n = 0, most = json_object_size(own);
    const char *name;
    json_t *value;
    char **out;

    for (char **at = environ; *at; at++)
        most++;
    out = memory_zeroed(most + 1, sizeof(*out), "a command's environment");
    for (char **at = environ; *at; at++)
        if (strncmp(*at, "RINGBENCH_", 10) != 0 && !is_set(own, *at))
            out[n++] = memory_text(*at, "a command's environment");
    json_object_foreach (own, name, value) /* a variable with an empty value is not set */
        if (json_string_length(value) > 0 &&
            asprintf(&out[n++], "%s=%s", name, json_string_value(value)) < 0)
            memory_out("a command's environment");
    return out;
}

void command_template_free(char **argv)
{
    for (size_t i = 0; argv && argv[i]; i++)
        free(argv[i]);
    free(argv);
}
