/* program.c - a program that this node's administrator offers to runs */
#include "agent/process/program.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "common/spec/program_schema.h"
#include "common/spec/spec_value.h"

#define ARGUMENT_MAX ((size_t)16384)
#define DESCRIPTION_MAX 2000
#define RANKS_MAX 4096
#define TIMEOUT_MAX (30 * 86400)
#define ENV_MAX 64

/* ---- templates ---- */

static int append(struct buf *out, const char *text, size_t len, struct error *err)
{
    if (!buf_append(out, text, len))
        return 0;
    return error_set(err, ERROR_LIMIT, "becomes longer than %zu bytes", ARGUMENT_MAX);
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
        return error_set(err, ERROR_INVALID, "{%s} is no parameter", name);
    text = program_value_text(value);
    result = text ? append(out, text, strlen(text), err)
                  : error_set(err, ERROR_MEMORY, "out of memory");
    free(text);
    return result;
}

/* The piece of a template at *at, which is moved behind it. */
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
                         "has a single %c; {{ and }} stand for the characters", text[0]);
    if (text[0] != '{') {
        len = strcspn(text, "{}");
        *at += len;
        return append(out, text, len, err);
    }
    len = (size_t)(close - text) - 1;
    if (len > PROGRAM_NAME_MAX)
        return error_set(err, ERROR_INVALID, "{%.*s...} is no parameter",
                         PROGRAM_NAME_MAX, text + 1);
    memcpy(name, text + 1, len);
    name[len] = '\0';
    *at = close + 1;
    return append_value(out, name, values, config_dir, err);
}

char *program_substitute(const char *template, json_t *values, const char *config_dir,
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

/* ---- the file's fields ---- */

struct parsing {
    struct program *program;
    json_t *file;
    struct problems *problems;
};

static void take_text(struct parsing *p, char **field, const char *text)
{
    *field = strdup(text);
    if (!*field)
        problems_add(p->problems, "", "out of memory");
}

static void parse_description(struct parsing *p)
{
    json_t *value = json_object_get(p->file, "description");

    if (value && (!json_is_string(value) || json_string_length(value) > DESCRIPTION_MAX))
        problems_add(p->problems, "/description", "must be a string of at most %d bytes",
                     DESCRIPTION_MAX);
    take_text(p, &p->program->description,
              json_is_string(value) ? json_string_value(value) : "");
}

static void parse_parameters(struct parsing *p)
{
    json_t *value = json_object_get(p->file, "parameters");

    if (value)
        program_schema_check(value, "/parameters", p->problems);
    p->program->parameters = value ? json_incref(value) : json_object();
}

/* The full path of an executable: what execvp would run. */
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

static void parse_path(struct parsing *p, const char *first)
{
    char path[PATH_MAX];
    struct error err;
    char *name = program_substitute(first, NULL, p->program->config_dir, &err);

    if (!name)
        problems_add(p->problems, "/argv/0",
                     "%s; the executable itself can't be a parameter", err.text);
    else if (strchr(name, '/') && name[0] != '/')
        problems_add(p->problems, "/argv/0",
                     "must be a full path or a name that is looked up in PATH");
    else if (name[0] == '/' && access(name, X_OK) == 0)
        take_text(p, &p->program->path, name);
    else if (name[0] != '/' && find_in_path(name, path))
        take_text(p, &p->program->path, path);
    else
        problems_add(p->problems, "/argv/0", "%.200s can't be executed here", name);
    free(name);
}

/* Whether the templates name only what exists, tried with a stand-in for every value. */
static void check_templates(struct parsing *p)
{
    json_t *values = json_object(), *parameter;
    const char *name;

    json_object_foreach (p->program->parameters, name, parameter)
        json_object_set_new(values, name, json_string(""));
    for (size_t i = 1; i < json_array_size(p->program->argv); i++) {
        const char *text = json_string_value(json_array_get(p->program->argv, i));
        struct error err;
        char pointer[40];
        char *made;

        snprintf(pointer, sizeof(pointer), "/argv/%zu", i);
        made = program_substitute(text, values, p->program->config_dir, &err);
        if (!made)
            problems_add(p->problems, pointer, "%s", err.text);
        free(made);
    }
    json_decref(values);
}

static void parse_argv(struct parsing *p)
{
    json_t *argv = json_object_get(p->file, "argv");
    size_t n = json_array_size(argv);

    if (n == 0 || n > PROGRAM_ARGV_MAX) {
        problems_add(p->problems, "/argv", "must be an array of 1 to %d strings",
                     PROGRAM_ARGV_MAX);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        char pointer[40];

        if (json_is_string(json_array_get(argv, i)))
            continue;
        snprintf(pointer, sizeof(pointer), "/argv/%zu", i);
        problems_add(p->problems, pointer, "must be a string");
        return;
    }
    p->program->argv = json_incref(argv);
    parse_path(p, json_string_value(json_array_get(argv, 0)));
    check_templates(p);
}

static void parse_cwd(struct parsing *p)
{
    json_t *value = json_object_get(p->file, "cwd");
    struct stat st;
    struct error err = {.text = "must be a string"};

    if (!value)
        return;
    if (json_is_string(value))
        p->program->cwd = program_substitute(json_string_value(value), NULL,
                                             p->program->config_dir, &err);
    if (!p->program->cwd)
        problems_add(p->problems, "/cwd", "%s", err.text);
    else if (p->program->cwd[0] != '/' || stat(p->program->cwd, &st) ||
             !S_ISDIR(st.st_mode))
        problems_add(p->problems, "/cwd", "must be the full path of a directory");
}

/* What the administrator sets needs no policy, but must be fit for an environment. */
static void parse_env(struct parsing *p)
{
    json_t *env = json_object_get(p->file, "env"), *value;
    const char *name;

    p->program->env = json_object();
    if (env && (!json_is_object(env) || json_object_size(env) > ENV_MAX)) {
        problems_add(p->problems, "/env", "must be an object of at most %d strings",
                     ENV_MAX);
        return;
    }
    json_object_foreach (env, name, value) {
        const char *text = json_string_value(value);
        struct error err = {.text = "must be a string"};
        char pointer[300];
        char *made =
            text ? program_substitute(text, NULL, p->program->config_dir, &err) : NULL;

        spec_child_pointer(pointer, sizeof(pointer), "/env", name);
        if (!*name || strchr(name, '='))
            problems_add(p->problems, pointer, "is no name of a variable");
        else if (!made)
            problems_add(p->problems, pointer, "%s", err.text);
        else
            json_object_set_new(p->program->env, name, json_string(made));
        free(made);
    }
}

static void parse_limits(struct parsing *p)
{
    json_t *ranks = json_object_get(p->file, "ranks_per_node");
    json_t *timeout = json_object_get(p->file, "timeout_s");
    const char *text = json_string_value(ranks);

    p->program->ranks_per_node = 1;
    if (text && strcmp(text, "all") == 0)
        p->program->ranks_per_node = 0;
    else if (ranks)
        spec_parse_integer(ranks, 1, RANKS_MAX, &p->program->ranks_per_node,
                           "/ranks_per_node", p->problems);
    if (timeout)
        spec_parse_integer(timeout, 1, TIMEOUT_MAX, &p->program->timeout_s, "/timeout_s",
                           p->problems);
}

static void refuse_unknown(struct parsing *p)
{
    static const char *const known[] = {"description", "argv",   "parameters",
                                        "cwd",         "env",    "ranks_per_node",
                                        "timeout_s",   "metrics"};
    const char *key;
    json_t *value;

    json_object_foreach (p->file, key, value) {
        bool is_known = false;
        char pointer[300];

        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            is_known = is_known || strcmp(known[i], key) == 0;
        spec_child_pointer(pointer, sizeof(pointer), "", key);
        if (!is_known)
            problems_add(p->problems, pointer,
                         "unknown key; known are description, argv, parameters, cwd, "
                         "env, ranks_per_node, timeout_s, metrics");
    }
}

static void parse_all(struct parsing *p)
{
    refuse_unknown(p);
    parse_description(p);
    parse_parameters(p);
    parse_argv(p);
    parse_cwd(p);
    parse_env(p);
    parse_limits(p);
    p->program->metrics =
        metric_set_parse(json_object_get(p->file, "metrics"), "/metrics", p->problems);
}

struct program *program_parse(const char *name, json_t *file, const char *config_dir,
                              struct problems *problems)
{
    size_t before = problems->count;
    struct parsing parsing = {NULL, file, problems};

    if (!program_name_is_valid(name)) {
        problems_add(problems, "", "the file's name is none for a program");
        return NULL;
    }
    if (!json_is_object(file)) {
        problems_add(problems, "", "must be a JSON object");
        return NULL;
    }
    parsing.program = calloc(1, sizeof(*parsing.program));
    if (!parsing.program) {
        problems_add(problems, "", "out of memory");
        return NULL;
    }
    take_text(&parsing, &parsing.program->name, name);
    take_text(&parsing, &parsing.program->config_dir, config_dir);
    if (problems->count == before)
        parse_all(&parsing);
    if (problems->count == before)
        return parsing.program;
    program_destroy(parsing.program);
    return NULL;
}

void program_destroy(struct program *program)
{
    if (!program)
        return;
    free(program->name);
    free(program->description);
    free(program->path);
    free(program->cwd);
    free(program->config_dir);
    json_decref(program->argv);
    json_decref(program->parameters);
    json_decref(program->env);
    metric_set_destroy(program->metrics);
    free(program);
}

json_t *program_to_json(const struct program *program)
{
    json_t *out = json_pack("{s:s, s:s, s:O, s:o}", "name", program->name, "description",
                            program->description, "parameters", program->parameters,
                            "metrics", metric_set_json(program->metrics));

    json_object_set_new(out, "ranks_per_node",
                        program->ranks_per_node ? json_integer(program->ranks_per_node)
                                                : json_string("all"));
    json_object_set_new(out, "timeout_s",
                        program->timeout_s ? json_integer(program->timeout_s)
                                           : json_null());
    return out;
}

/* ---- starting ---- */

static json_t *complete(const struct program *program, json_t *args, struct error *err)
{
    struct problems problems;
    json_t *values;

    problems_init(&problems);
    values =
        program_schema_complete(program->parameters, args, "/program/args", &problems);
    if (!values) {
        const json_t *first = json_array_get(problems.errors, 0);

        error_set(err, ERROR_INVALID, "%.200s: %.250s",
                  json_get_str(first, "pointer", "/program/args"),
                  json_get_str(first, "detail", "out of memory"));
    }
    problems_release(&problems);
    return values;
}

char **program_argv(const struct program *program, json_t *args, struct error *err)
{
    size_t n = json_array_size(program->argv);
    json_t *values = complete(program, args, err);
    char **argv = values ? calloc(n + 1, sizeof(*argv)) : NULL;

    if (values && !argv)
        error_set(err, ERROR_MEMORY, "out of memory");
    for (size_t i = 0; argv && i < n; i++) {
        const char *text = json_string_value(json_array_get(program->argv, i));

        argv[i] = program_substitute(text, values, program->config_dir, err);
        if (!argv[i]) {
            error_prefix(err, "argument %zu", i);
            program_argv_free(argv);
            argv = NULL;
        }
    }
    json_decref(values);
    return argv;
}

void program_argv_free(char **argv)
{
    for (size_t i = 0; argv && argv[i]; i++)
        free(argv[i]);
    free(argv);
}
