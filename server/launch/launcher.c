/* SPDX-License-Identifier: Apache-2.0 */
/* launcher.c - reads launchers, which describe how to request nodes from an engine */
#include "server/launch/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/command_template.h"
#include "common/spec/config_files.h"
#include "common/spec/program_schema.h"
#include "common/spec/spec_field.h"

#define TEXT_MAX 2000
#define STATES_MAX 100

const char *const job_state_names[] = {"starting", "pending", "running",
                                       "stopping", "ended",   NULL};

static const char *const command_names[] = {"start", "status", "stop", "find"};

/* Names that templates may contain besides the launcher's parameters. The last must be
 * `job`. */
static const char *const given[] = {"nodes",  "group", "server", "token_file", "ca_file",
                                    "output", "name",  "run",    "idle_s",     "job"};

#define GIVEN (sizeof(given) / sizeof(given[0]))

/* ---- The file's fields ---- */

/* A regular expression with at least `min` groups, ( ). */
static void parse_pattern(const struct spec_field *field, json_t *value,
                          struct run_spec *into, const char *pointer,
                          struct problems *problems)
{
    struct safe_regex **out = spec_field_at(field, into);
    struct error err = {.text = "must be a string that contains a regular expression"};

    if (json_is_string(value))
        *out = safe_regex_compile(json_string_value(value), false, &err);
    if (!*out)
        problems_add(problems, pointer, "%s", err.text);
    else if (safe_regex_groups(*out) < (size_t)field->min)
        problems_add(problems, pointer, "needs a group, ( ), around the part to extract");
}

static void release_pattern(const struct spec_field *field, struct run_spec *of)
{
    struct safe_regex **pattern = spec_field_at(field, of);

    safe_regex_destroy(*pattern);
}

static const struct spec_kind kind_pattern = {parse_pattern, NULL, NULL, release_pattern};

static void check_parameters(json_t *value, const char *pointer,
                             struct problems *problems)
{
    char at[64];

    program_schema_check(value, pointer, problems);
    for (size_t i = 0; i < GIVEN; i++) {
        snprintf(at, sizeof(at), "%s/%s", pointer, given[i]);
        if (json_object_get(value, given[i]))
            problems_add(problems, at, "is reserved for the server");
    }
}

static void check_states(json_t *states, const char *pointer, struct problems *problems)
{
    const char *word;
    json_t *value;

    if (json_object_size(states) == 0 || json_object_size(states) > STATES_MAX)
        problems_add(problems, pointer,
                     "must be an object that maps the engine's words for job states to "
                     "pending, running or ended");
    json_object_foreach (states, word, value) {
        const char *text = json_is_string(value) ? json_string_value(value) : "";
        char at[300];

        spec_child_pointer(at, sizeof(at), pointer, word);
        if (strcmp(text, "pending") != 0 && strcmp(text, "running") != 0 &&
            strcmp(text, "ended") != 0)
            problems_add(problems, at, "must be pending, running or ended");
    }
}

static void check_who(json_t *who, const char *pointer, struct problems *problems)
{
    json_t *name;
    size_t i;

    if (json_array_size(who) == 0)
        problems_add(problems, pointer,
                     "must be an array of users' names from the token file");
    json_array_foreach (who, i, name)
        if (!json_is_string(name) || json_string_length(name) == 0)
            problems_add(problems, pointer, "must contain only non-empty strings");
}

/* check_templates() checks the fields whose checker is NULL together. */
#define AT(member) .offset = offsetof(struct launcher, member)
#define TEXT(member) .kind = &spec_text, AT(member), .max = TEXT_MAX
#define COUNT(member, high) .kind = &spec_integer, AT(member), .min = 1, .max = (high)
#define NUMBER(member, low, high)                                                        \
    .kind = &spec_real, AT(member), .least = (low), .most = (high)
#define JSON(member, checker) .kind = &spec_json, AT(member), .check = (checker)
#define PATTERN(member, groups) .kind = &kind_pattern, AT(member), .min = (groups)
#define FIELDS(table, what)                                                              \
    {                                                                                    \
        table, sizeof(table) / sizeof(table[0]), what                                    \
    }

static const struct spec_field start_table[] = {
    {"argv", NULL, SPEC_REQUIRED, JSON(argv[LAUNCHER_START], NULL)},
    {"job", NULL, SPEC_REQUIRED, PATTERN(job, 1)},
};
static const struct spec_field status_table[] = {
    {"argv", NULL, SPEC_REQUIRED, JSON(argv[LAUNCHER_STATUS], NULL)},
    {"gone", NULL, 0, PATTERN(gone, 0)},
    {"stuck", NULL, 0, PATTERN(stuck, 0)},
    {"word", NULL, 0, PATTERN(word, 1)},
    {"reason", NULL, 0, PATTERN(reason, 1)},
    {"every_s", "5", 0, NUMBER(every_s, 0.05, 3600)},
};
static const struct spec_field stop_table[] = {
    {"argv", NULL, SPEC_REQUIRED, JSON(argv[LAUNCHER_STOP], NULL)},
};
static const struct spec_field find_table[] = {
    {"argv", NULL, SPEC_REQUIRED, JSON(argv[LAUNCHER_FIND], NULL)},
};
static const struct spec_field limits_table[] = {
    {"nodes", "100000", 0, COUNT(most_nodes, 100000)},
    {"jobs", "1000", 0, COUNT(most_jobs, 1000)},
    {"hours", "24", 0, NUMBER(most_hours, 0.0001, 10000)},
    {"who", NULL, 0, JSON(who, check_who)},
};

static const struct spec_fields start_fields = FIELDS(start_table, "an object"),
                                status_fields = FIELDS(status_table, "an object"),
                                stop_fields = FIELDS(stop_table, "an object"),
                                find_fields = FIELDS(find_table, "an object"),
                                limits_fields = FIELDS(limits_table, "an object");

static const struct spec_field table[] = {
    {"description", NULL, 0, TEXT(description)},
    {"parameters", "{}", 0, JSON(parameters, check_parameters)},
    {"env", NULL, 0, JSON(env, NULL)},
    {"start", NULL, SPEC_REQUIRED, SPEC_MEMBERS(&start_fields)},
    {"status", NULL, SPEC_REQUIRED, SPEC_MEMBERS(&status_fields)},
    {"stop", NULL, SPEC_REQUIRED, SPEC_MEMBERS(&stop_fields)},
    {"find", NULL, 0, SPEC_MEMBERS(&find_fields)},
    {"states", NULL, SPEC_REQUIRED, JSON(states, check_states)},
    {"limits", "{}", 0, SPEC_MEMBERS(&limits_fields)},
    {"server", NULL, 0, TEXT(server)},
    {"job_dir", NULL, 0, TEXT(job_dir)},
    {"command_s", "60", 0, NUMBER(command_s, 0.1, 3600)},
};
static const struct spec_fields fields = FIELDS(table, "an object");

/* Return all names that a template may contain; `job` only if has_job. */
static json_t *names_of(const struct launcher *launcher, bool has_job)
{
    json_t *names = json_object(), *value;
    const char *name;

    json_object_foreach (launcher->parameters, name, value)
        json_object_set_new(names, name, json_string(""));
    for (size_t i = 0; i < GIVEN - !has_job; i++)
        json_object_set_new(names, given[i], json_string(""));
    return names;
}

static void check_templates(const struct launcher *launcher, struct problems *problems)
{
    json_t *names[] = {names_of(launcher, false), names_of(launcher, true)};
    char pointer[64];

    for (int i = 0; i < LAUNCHER_COMMANDS; i++) {
        snprintf(pointer, sizeof(pointer), "/%s/argv", command_names[i]);
        if (launcher->argv[i])
            free(command_template_check(launcher->argv[i], pointer,
                                        names[i == LAUNCHER_STATUS || i == LAUNCHER_STOP],
                                        launcher->config_dir, problems));
    }
    json_decref(
        command_template_env(launcher->env, names[0], launcher->config_dir, problems));
    json_decref(names[0]);
    json_decref(names[1]);
}

/* Parse a file's content (borrowed). Returns a reference. On failure returns NULL and
 * adds every error to *problems with its pointer into the file. */
static struct launcher *parse(const char *name, json_t *file, const char *config_dir,
                              struct problems *problems)
{
    struct launcher *launcher = memory_zeroed(1, sizeof(*launcher), "a launcher");
    size_t before = problems->count;

    launcher->name = memory_text(name, "a launcher");
    launcher->config_dir = memory_text(config_dir, "a launcher");
    launcher->refs = 1;
    if (!program_name_is_valid(name))
        problems_add(problems, "", "the file name is not a valid launcher name");
    spec_fields_read_into(&fields, file, launcher, "", problems);
    if (problems->count == before)
        check_templates(launcher, problems);
    if (problems->count == before)
        return launcher;
    launcher_unref(launcher);
    return NULL;
}

struct launcher *launcher_ref(struct launcher *launcher)
{
    launcher->refs++;
    return launcher;
}

void launcher_unref(struct launcher *launcher)
{
    if (--launcher->refs > 0)
        return;
    free(launcher->name);
    free(launcher->config_dir);
    spec_fields_release(&fields, (struct run_spec *)(void *)launcher);
    free(launcher);
}

json_t *launcher_to_json(const struct launcher *launcher)
{
    return json_pack("{s:s, s:s, s:O, s:{s:I, s:I, s:f, s:O*}}", "name", launcher->name,
                     "description", launcher->description ? launcher->description : "",
                     "parameters", launcher->parameters, "limits", "nodes",
                     (json_int_t)launcher->most_nodes, "jobs",
                     (json_int_t)launcher->most_jobs, "hours", launcher->most_hours,
                     "who", launcher->who);
}

/* ---- The directory ---- */

static void add_file(void *arg, const struct config_file *file, struct problems *problems)
{
    struct launcher_list *list = arg;
    struct launcher *launcher = parse(file->name, file->content, file->dir, problems);

    if (launcher)
        list->items[list->n++] = launcher;
}

int launcher_list_load(struct launcher_list *list, const char *dir, struct error *err)
{
    list->n = 0;
    if (!config_files_load(dir, "launchers", LAUNCHERS_MAX, add_file, list, err))
        return 0;
    launcher_list_release(list);
    return -1;
}

void launcher_list_release(struct launcher_list *list)
{
    while (list->n > 0)
        launcher_unref(list->items[--list->n]);
}

struct launcher *launcher_list_find(const struct launcher_list *list, const char *name)
{
    for (size_t i = 0; name && i < list->n; i++)
        if (strcmp(list->items[i]->name, name) == 0)
            return list->items[i];
    return NULL;
}

/* ---- Commands ---- */

char **launcher_env(const struct launcher *launcher, json_t *values, struct error *err)
{
    struct problems problems;
    char **out = NULL;
    json_t *own;

    problems_init(&problems);
    own = command_template_env(launcher->env, values, launcher->config_dir, &problems);
    json_object_set(own, LAUNCHER_JOB_VARIABLE, json_object_get(values, "name"));
    if (problems.count > 0)
        problems_error(&problems, launcher->name, err);
    else
        out = command_template_environ(own);
    problems_release(&problems);
    json_decref(own);
    return out;
}

bool launcher_finds(const struct safe_regex *pattern, const char *text, const char **at,
                    size_t *len)
{
    return pattern &&
           safe_regex_match(pattern, text, strlen(text), at, len) == SAFE_REGEX_YES &&
           (!at || *at);
}

int launcher_state(const struct launcher *launcher, const char *text, char *reason,
                   size_t size)
{
    const char *at = text, *word, *name = NULL;
    size_t len = strcspn(text, " \t\r\n"), line = strcspn(text, "\r\n");
    json_t *value;

    launcher_finds(launcher->word, text, &at, &len);
    json_object_foreach (launcher->states, word, value)
        if (strlen(word) == len && strncasecmp(word, at, len) == 0)
            name = json_string_value(value);
    if (launcher_finds(launcher->reason, text, &text, &line))
        snprintf(reason, size, "%.*s%s%.*s", (int)len, at, line > 0 ? " " : "", (int)line,
                 text);
    else if (launcher->word)
        snprintf(reason, size, "%.*s", (int)len, at);
    else
        snprintf(reason, size, "%.*s", (int)line, text);
    for (int i = 0; name && job_state_names[i]; i++)
        if (strcmp(job_state_names[i], name) == 0)
            return i;
    return -1;
}
