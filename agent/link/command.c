/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - parses commands of the server: start a case, stop a case, leave */
#include "agent/link/command.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"

bool case_id_equal(const struct case_id *a, const struct case_id *b)
{
    return strcmp(a->run, b->run) == 0 && a->number == b->number &&
           a->attempt == b->attempt;
}

static int parse_type(const json_t *object, enum command_type *type, struct error *err)
{
    static const struct {
        const char *name;
        enum command_type type;
    } types[] = {
        {"start", COMMAND_START}, {"stop", COMMAND_STOP}, {"leave", COMMAND_LEAVE}};
    const char *name = json_get_str(object, "type", NULL);

    if (!name)
        return error_set(err, ERROR_INVALID, "'type' is missing");
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(name, types[i].name) == 0) {
            *type = types[i].type;
            return 0;
        }
    }
    return error_set(err, ERROR_INVALID, "this agent does not know the type '%.60s'",
                     name);
}

/* The run's id becomes part of a file name, so it must not contain "/" or start with
 * ".". */
static bool is_run_id(const char *text)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789._-");

    return len > 0 && len <= CASE_RUN_MAX && text[len] == '\0' && text[0] != '.';
}

static int parse_case(const json_t *object, struct case_id *id, struct error *err)
{
    const char *run = json_get_str(object, "run", "");

    id->number = json_get_int(object, "case", -1);
    id->attempt = json_get_int(object, "attempt", -1);
    if (!is_run_id(run) || id->number < 0 || id->attempt < 0)
        return error_set(err, ERROR_INVALID,
                         "'run', 'case' or 'attempt' is missing or invalid");
    memcpy(id->run, run, strlen(run) + 1);
    return 0;
}

static int get_int(const json_t *object, const char *key, int min, int max, int *out,
                   struct error *err)
{
    int64_t value = json_get_int(object, key, INT64_MIN);

    if (value < min || value > max)
        return error_set(err, ERROR_INVALID,
                         "the start command's '%s' is missing or not in %d to %d", key,
                         min, max);
    *out = (int)value;
    return 0;
}

static int parse_ranks(const json_t *array, struct command *command, struct error *err)
{
    size_t n = json_array_size(array);

    if (n == 0 || n > COMMAND_RANKS_MAX)
        return error_set(err, ERROR_INVALID,
                         "the start command contains %zu ranks; 1 to %d are allowed", n,
                         COMMAND_RANKS_MAX);
    command->ranks = memory_zeroed(n, sizeof(*command->ranks), "ranks");
    command->n_ranks = n;
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(array, i);

        if (get_int(item, "rank", 0, command->world_size - 1, &command->ranks[i].rank,
                    err) ||
            get_int(item, "local_rank", 0, COMMAND_RANKS_MAX - 1,
                    &command->ranks[i].local_rank, err))
            return -1;
        command->ranks[i].device = (int)json_get_int(item, "device", -1);
        for (size_t j = 0; j < i; j++) {
            if (command->ranks[j].rank == command->ranks[i].rank)
                return error_set(err, ERROR_INVALID,
                                 "the start command contains rank %d twice",
                                 command->ranks[i].rank);
        }
    }
    return 0;
}

/* The backend becomes part of a program's name. */
static bool is_backend(const char *text)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return len > 0 && len <= 32 && text[len] == '\0';
}

/* Get an object of strings. If has_nulls is set, its values may also be null, which means
 * that the variable is unset. */
static int get_texts(const json_t *object, const char *key, bool has_nulls, json_t **out,
                     struct error *err)
{
    json_t *texts = json_object_get(object, key), *value;
    const char *name;

    if (!texts || json_is_null(texts))
        return 0;
    if (!json_is_object(texts))
        return error_set(err, ERROR_INVALID, "the start command's %s is not an object",
                         key);
    json_object_foreach (texts, name, value)
        if (!json_is_string(value) && !(has_nulls && json_is_null(value)))
            return error_set(err, ERROR_INVALID, "%s: %.60s is not a string", key, name);
    *out = texts;
    return 0;
}

static int parse_start(const json_t *object, struct command *command, struct error *err)
{
    command->backend = json_get_str(object, "backend", "");
    command->master_addr = json_get_str(object, "master_addr", "");
    command->spec = json_object_get(object, "spec");
    command->agents_here = (int)json_get_int(object, "agents_here", 1);
    if (!is_backend(command->backend))
        return error_set(err, ERROR_INVALID, "the start command names no backend");
    if (command->master_addr[0] == '\0')
        return error_set(err, ERROR_INVALID, "the start command lacks master_addr");
    if (!json_is_object(command->spec))
        return error_set(err, ERROR_INVALID, "the start command lacks a spec");
    if (get_int(object, "master_port", 1, 65535, &command->master_port, err) ||
        get_int(object, "world_size", 1, INT32_MAX, &command->world_size, err) ||
        get_int(object, "group_rank", 0, INT32_MAX, &command->group_rank, err) ||
        get_int(object, "group_world_size", 1, INT32_MAX, &command->group_world_size,
                err))
        return -1;
    if (get_texts(object, "env", true, &command->env, err) ||
        get_texts(object, "files", false, &command->files, err))
        return -1;
    return parse_ranks(json_object_get(object, "ranks"), command, err);
}

int command_parse(const json_t *object, struct command *command, struct error *err)
{
    memset(command, 0, sizeof(*command));
    if (!json_is_object(object))
        return error_set(err, ERROR_INVALID, "not a JSON object");
    command->seq = json_get_int(object, "seq", -1);
    if (command->seq < 1)
        return error_set(err, ERROR_INVALID, "'seq' is missing or less than 1");
    command->reason = json_get_str(object, "reason", "");
    if (parse_type(object, &command->type, err))
        return -1;
    if (command->type == COMMAND_LEAVE)
        return 0;
    if (parse_case(object, &command->id, err))
        return -1;
    command->with_stacks = json_get_bool(object, "stacks", false);
    if (command->type == COMMAND_START)
        parse_start(object, command, &command->fault);
    return 0;
}

void command_release(struct command *command)
{
    free(command->ranks);
    command->ranks = NULL;
    command->n_ranks = 0;
}
