/* launcher.c - how this server gets nodes from an engine that has them */
#include "server/launch/launcher.h"

#include <errno.h>
#include <limits.h>
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
#include "common/spec/spec_value.h"

#define TEXT_MAX 2000
#define STATES_MAX 100

const char *const job_state_names[] = {"starting", "pending", "running",
                                       "stopping", "ended",   NULL};

/* What stands in a command besides the launcher's own parameters. */
static const char *const given[] = {"nodes", "group", "server", "token_file",
                                    "name",  "run",   "idle_s", "job"};

#define GIVEN (sizeof(given) / sizeof(given[0]))

/* ---- The file's fields ---- */

struct parsing {
    struct launcher *launcher;
    json_t *file;
    struct problems *problems;
};

static void take_text(const struct parsing *p, const char *key, const char **field)
{
    json_t *value = json_object_get(p->file, key);
    char pointer[64];

    snprintf(pointer, sizeof(pointer), "/%s", key);
    if (value && (!json_is_string(value) || json_string_length(value) > TEXT_MAX))
        problems_add(p->problems, pointer, "must be a string of at most %d bytes",
                     TEXT_MAX);
    *field = json_string_value(value);
}

/* The first group of what it finds is wanted: of `job`, the id. */
static void take_pattern(const struct parsing *p, const char *pointer, json_t *value,
                         size_t groups, struct safe_regex **out)
{
    struct error err = {.text = "must be a string, a regular expression"};

    if (json_is_string(value))
        *out = safe_regex_compile(json_string_value(value), false, &err);
    if (!*out)
        problems_add(p->problems, pointer, "%s", err.text);
    else if (safe_regex_groups(*out) < groups)
        problems_add(p->problems, pointer, "needs a group, ( ), around what is wanted");
}

static void take_optional(const struct parsing *p, const char *pointer, size_t groups,
                          struct safe_regex **out)
{
    json_t *value =
        json_object_get(json_object_get(p->file, "status"), strrchr(pointer, '/') + 1);

    if (value)
        take_pattern(p, pointer, value, groups, out);
}

/* All names that a template may have; `job` only where there is one. */
static json_t *names_of(const struct parsing *p, bool has_job)
{
    json_t *names = json_copy(p->launcher->parameters);

    for (size_t i = 0; i < GIVEN; i++)
        if (has_job || strcmp(given[i], "job") != 0)
            json_object_set_new(names, given[i], json_true());
    return names;
}

static void take_command(const struct parsing *p, const char *key,
                         enum launcher_command command)
{
    json_t *object = json_object_get(p->file, key),
           *argv = json_object_get(object, "argv");
    json_t *names = names_of(p, command == LAUNCHER_STATUS || command == LAUNCHER_STOP);
    char pointer[64];

    snprintf(pointer, sizeof(pointer), "/%s/argv", key);
    if (object || command != LAUNCHER_FIND)
        free(command_template_check(argv, pointer, names, p->launcher->config_dir,
                                    p->problems));
    p->launcher->argv[command] = argv;
    json_decref(names);
}

static void take_parameters(const struct parsing *p)
{
    json_t *value = json_object_get(p->file, "parameters");
    char pointer[64];

    if (value)
        program_schema_check(value, "/parameters", p->problems);
    p->launcher->parameters = value ? json_incref(value) : json_object();
    for (size_t i = 0; i < GIVEN; i++) {
        snprintf(pointer, sizeof(pointer), "/parameters/%s", given[i]);
        if (json_object_get(value, given[i]))
            problems_add(p->problems, pointer, "is the server's own");
    }
}

static void take_states(const struct parsing *p)
{
    json_t *states = json_object_get(p->file, "states"), *value;
    const char *word;

    if (json_object_size(states) == 0 || json_object_size(states) > STATES_MAX)
        problems_add(p->problems, "/states",
                     "must be an object: the engine's words for a job's states, each "
                     "with pending, running or ended");
    json_object_foreach (states, word, value) {
        const char *text = json_is_string(value) ? json_string_value(value) : "";
        char pointer[300];

        spec_child_pointer(pointer, sizeof(pointer), "/states", word);
        if (strcmp(text, "pending") != 0 && strcmp(text, "running") != 0 &&
            strcmp(text, "ended") != 0)
            problems_add(p->problems, pointer, "must be pending, running or ended");
    }
    p->launcher->states = states;
}

static void take_env(const struct parsing *p)
{
    json_t *names = names_of(p, false), *value;
    const char *name;
    json_t *values = json_object();

    json_object_foreach (names, name, value)
        json_object_set_new(values, name, json_string(""));
    p->launcher->env = json_object_get(p->file, "env");
    json_decref(command_template_env(p->launcher->env, values, p->launcher->config_dir,
                                     p->problems));
    json_decref(values);
    json_decref(names);
}

static double number_of(const struct parsing *p, const json_t *object,
                        const char *pointer, double usual, double least, double most)
{
    const json_t *value = json_object_get(object, strrchr(pointer, '/') + 1);

    if (!value)
        return usual;
    if (json_is_number(value) && json_number_value(value) >= least &&
        json_number_value(value) <= most)
        return json_number_value(value);
    problems_add(p->problems, pointer, "must be a number from %g to %g", least, most);
    return usual;
}

static void take_numbers(const struct parsing *p)
{
    struct launcher *l = p->launcher;
    const json_t *limits = json_object_get(p->file, "limits");
    const json_t *status = json_object_get(p->file, "status");

    l->most_nodes = (long)number_of(p, limits, "/limits/nodes", 100000, 1, 100000);
    l->most_jobs = (long)number_of(p, limits, "/limits/jobs", 1000, 1, 1000);
    l->most_hours = number_of(p, limits, "/limits/hours", 24, 0.0001, 10000);
    l->every_s = number_of(p, status, "/status/every_s", 5, 0.05, 3600);
    l->command_s = number_of(p, p->file, "/command_s", 60, 0.1, 3600);
}

static void take_who(const struct parsing *p)
{
    json_t *who = json_object_get(json_object_get(p->file, "limits"), "who"), *name;
    size_t i;

    if (!who)
        return;
    if (!json_is_array(who) || json_array_size(who) == 0)
        problems_add(p->problems, "/limits/who",
                     "must be an array of names that stand beside tokens");
    json_array_foreach (who, i, name)
        if (!json_is_string(name) || json_string_length(name) == 0)
            problems_add(p->problems, "/limits/who", "must have strings only");
    p->launcher->who = who;
}

static void refuse_unknown(const struct parsing *p)
{
    static const struct {
        const char *object, *known;
    } keys[] = {
        {"start", "argv, job"},
        {"status", "argv, gone, word, reason, every_s"},
        {"stop", "argv"},
        {"find", "argv"},
        {"limits", "nodes, jobs, hours, who"},
    };
    char pointer[32];

    config_refuse_unknown(p->file, "",
                          "description, parameters, env, start, status, stop, find, "
                          "states, limits, server, token_dir, command_s",
                          p->problems);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        snprintf(pointer, sizeof(pointer), "/%s", keys[i].object);
        config_refuse_unknown(json_object_get(p->file, keys[i].object), pointer,
                              keys[i].known, p->problems);
    }
}

static void parse_all(const struct parsing *p)
{
    refuse_unknown(p);
    take_text(p, "description", &p->launcher->description);
    take_text(p, "server", &p->launcher->server);
    take_text(p, "token_dir", &p->launcher->token_dir);
    take_parameters(p);
    take_command(p, "start", LAUNCHER_START);
    take_command(p, "status", LAUNCHER_STATUS);
    take_command(p, "stop", LAUNCHER_STOP);
    take_command(p, "find", LAUNCHER_FIND);
    take_pattern(p, "/start/job",
                 json_object_get(json_object_get(p->file, "start"), "job"), 1,
                 &p->launcher->job);
    take_optional(p, "/status/gone", 0, &p->launcher->gone);
    take_optional(p, "/status/word", 1, &p->launcher->word);
    take_optional(p, "/status/reason", 1, &p->launcher->reason);
    take_states(p);
    take_env(p);
    take_numbers(p);
    take_who(p);
}

struct launcher *launcher_parse(const char *name, json_t *file, const char *config_dir,
                                struct problems *problems)
{
    struct launcher *launcher = calloc(1, sizeof(*launcher));
    const struct parsing p = {launcher, file, problems};
    size_t before = problems->count;

    if (!launcher || !(launcher->name = strdup(name)) ||
        !(launcher->config_dir = strdup(config_dir)))
        memory_out("a launcher");
    launcher->refs = 1;
    launcher->file = json_incref(file);
    if (!program_name_is_valid(name))
        problems_add(problems, "", "the file's name is none for a launcher");
    else if (!json_is_object(file))
        problems_add(problems, "", "must be a JSON object");
    else
        parse_all(&p);
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
    json_decref(launcher->parameters);
    json_decref(launcher->file);
    safe_regex_destroy(launcher->job);
    safe_regex_destroy(launcher->gone);
    safe_regex_destroy(launcher->word);
    safe_regex_destroy(launcher->reason);
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

static int set_fault(struct error *err, const char *path, const struct problems *problems)
{
    const json_t *fault = json_array_get(problems->errors, 0);

    return error_set(err, ERROR_INVALID, "%.200s: %.100s: %.200s", path,
                     json_get_str(fault, "pointer", ""),
                     json_get_str(fault, "detail", "out of memory"));
}

struct reading {
    struct launcher_list *list;
    const char *dir;
    struct error *err;
};

static int add_file(void *arg, const struct config_file *file)
{
    struct reading *reading = arg;
    struct launcher_list *list = reading->list;
    struct problems problems;
    struct launcher *launcher;

    if (!file->content) {
        *reading->err = file->err;
        return -1;
    }
    if (list->n == LAUNCHERS_MAX)
        return error_set(reading->err, ERROR_LIMIT, "%.200s has more than %d launchers",
                         reading->dir, LAUNCHERS_MAX);
    problems_init(&problems);
    launcher = launcher_parse(file->name, file->content, reading->dir, &problems);
    if (launcher)
        list->items[list->n++] = launcher;
    else
        set_fault(reading->err, file->path, &problems);
    problems_release(&problems);
    return launcher ? 0 : -1;
}

int launcher_list_load(struct launcher_list *list, const char *dir, struct error *err)
{
    char full[PATH_MAX];
    struct reading reading = {list, full, err};

    list->n = 0;
    if (!dir)
        return 0;
    if (!realpath(dir, full))
        return error_set_errno(err, ERROR_IO, errno, "can't read --launchers %s", dir);
    if (!config_files_read(full, add_file, &reading, err))
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

static bool is_set(const json_t *own, const char *variable)
{
    char name[256];

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(variable, "="), variable);
    return json_object_get(own, name) != NULL;
}

/* Those of the server's own variables that are none of its options, which may be secrets,
 * and then `own`. */
char **launcher_env(const struct launcher *launcher, json_t *values, struct error *err)
{
    struct problems problems;
    json_t *own, *value;
    const char *name;
    size_t n = 0, most;
    char **out = NULL;

    problems_init(&problems);
    own = command_template_env(launcher->env, values, launcher->config_dir, &problems);
    if (problems.count > 0) {
        set_fault(err, launcher->name, &problems);
        goto out;
    }
    json_object_set(own, LAUNCHER_JOB_VARIABLE, json_object_get(values, "name"));
    most = json_object_size(own);
    for (char **at = environ; *at; at++)
        most++;
    out = calloc(most + 1, sizeof(*out));
    if (!out)
        memory_out("a launcher's environment");
    for (char **at = environ; *at; at++)
        if (strncmp(*at, "RINGBENCH_", 10) != 0 && !is_set(own, *at))
            out[n++] = strdup(*at);
    json_object_foreach (own, name, value) /* what is empty is not set at all */
        if (json_string_length(value) > 0 &&
            asprintf(&out[n++], "%s=%s", name, json_string_value(value)) < 0)
            memory_out("a launcher's environment");
out:
    problems_release(&problems);
    json_decref(own);
    return out;
}

/* The first group of what the pattern finds. */
static bool find(const struct safe_regex *pattern, const char *text, const char **at,
                 size_t *len)
{
    return pattern &&
           safe_regex_match(pattern, text, strlen(text), at, len) == SAFE_REGEX_YES &&
           *at;
}

int launcher_state(const struct launcher *launcher, const char *text, char *reason,
                   size_t size)
{
    const char *at = text, *word, *name = NULL;
    size_t len = strcspn(text, " \t\r\n"), line = strcspn(text, "\r\n");
    json_t *value;

    find(launcher->word, text, &at, &len);
    json_object_foreach (launcher->states, word, value)
        if (strlen(word) == len && strncasecmp(word, at, len) == 0)
            name = json_string_value(value);
    if (launcher->reason && find(launcher->reason, text, &text, &line))
        snprintf(reason, size, "%.*s %.*s", (int)len, at, (int)line, text);
    else if (launcher->word)
        snprintf(reason, size, "%.*s", (int)len, at);
    else
        snprintf(reason, size, "%.*s", (int)line, text);
    for (int i = 0; name && job_state_names[i]; i++)
        if (strcmp(job_state_names[i], name) == 0)
            return i;
    return -1;
}
