/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - parses a program that this node's administrator offers to runs */
#include "agent/process/program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/command_template.h"
#include "common/spec/config_files.h"
#include "common/spec/program_schema.h"
#include "common/spec/spec_value.h"

#define DESCRIPTION_MAX 2000
#define RANKS_MAX 4096
#define TIMEOUT_MAX (30 * 86400)

/* ---- the file's fields ---- */

struct parsing {
    struct program *program;
    json_t *file;
    struct problems *problems;
};

static void parse_description(struct parsing *p)
{
    json_t *value = json_object_get(p->file, "description");

    if (value && (!json_is_string(value) || json_string_length(value) > DESCRIPTION_MAX))
        problems_add(p->problems, "/description", "must be a string of at most %d bytes",
                     DESCRIPTION_MAX);
    p->program->description =
        memory_text(json_is_string(value) ? json_string_value(value) : "", "a program");
}

static void parse_parameters(struct parsing *p)
{
    json_t *value = json_object_get(p->file, "parameters");

    if (value)
        program_schema_check(value, "/parameters", p->problems);
    p->program->parameters = value ? json_incref(value) : json_object();
}

static void parse_argv(struct parsing *p)
{
    json_t *argv = json_object_get(p->file, "argv");

    p->program->path = command_template_check(argv, "/argv", p->program->parameters,
                                              p->program->config_dir, p->problems);
    if (p->program->path)
        p->program->argv = json_incref(argv);
}

static void parse_cwd(struct parsing *p)
{
    json_t *value = json_object_get(p->file, "cwd");
    struct stat st;
    struct error err = {.text = "must be a string"};

    if (!value)
        return;
    if (json_is_string(value))
        p->program->cwd = command_template_fill(json_string_value(value), NULL,
                                                p->program->config_dir, &err);
    if (!p->program->cwd)
        problems_add(p->problems, "/cwd", "%s", err.text);
    else if (p->program->cwd[0] != '/' || stat(p->program->cwd, &st) ||
             !S_ISDIR(st.st_mode))
        problems_add(p->problems, "/cwd", "must be the absolute path of a directory");
}

static void parse_env(struct parsing *p)
{
    json_t *none = json_object();

    p->program->env = command_template_env(json_object_get(p->file, "env"), none,
                                           p->program->config_dir, p->problems);
    json_decref(none);
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

static void parse_all(struct parsing *p)
{
    config_refuse_unknown(p->file, "",
                          "description, argv, parameters, cwd, env, ranks_per_node, "
                          "timeout_s, metrics",
                          p->problems);
    parse_description(p);
    parse_parameters(p);
    parse_argv(p);
    parse_cwd(p);
    parse_env(p);
    parse_limits(p);
    p->program->metric_rules = json_incref(json_object_get(p->file, "metrics"));
    p->program->metrics =
        metric_set_parse(p->program->metric_rules, "/metrics", p->problems);
}

struct program *program_parse(const char *name, json_t *file, const char *config_dir,
                              struct problems *problems)
{
    size_t before = problems->count;
    struct parsing parsing = {NULL, file, problems};

    if (!program_name_is_valid(name)) {
        problems_add(problems, "", "the file's name is not a valid program name");
        return NULL;
    }
    if (!json_is_object(file)) {
        problems_add(problems, "", "must be a JSON object");
        return NULL;
    }
    parsing.program = memory_zeroed(1, sizeof(*parsing.program), "a program");
    parsing.program->name = memory_text(name, "a program");
    parsing.program->config_dir = memory_text(config_dir, "a program");
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
    json_decref(program->metric_rules);
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
                  json_get_str(first, "detail", ""));
    }
    problems_release(&problems);
    return values;
}

char **program_argv(const struct program *program, json_t *args, struct error *err)
{
    json_t *values = complete(program, args, err);
    char **argv =
        values ? command_template_argv(program->argv, values, program->config_dir, err)
               : NULL;

    json_decref(values);
    return argv;
}
