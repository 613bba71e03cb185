/* SPDX-License-Identifier: Apache-2.0 */
/* run_matrix.c - enumerates the cases of a run: every combination of its matrix,
 * `repeats` times */
#include "common/spec/run_matrix.h"

#include <stdio.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/env_policy.h"
#include "common/spec/spec_value.h"

#define VARIABLES_MAX 8
#define NODES_NAMED_MAX 4

/* Return true if a key is not a variable but selects the case's NCCL library. */
static bool is_library(const char *name)
{
    return strcmp(name, RUN_MATRIX_LIBRARY) == 0;
}

static void check_paths(json_t *values, const char *pointer, struct problems *problems)
{
    for (size_t i = 0; i < json_array_size(values); i++) {
        const char *path = json_string_value(json_array_get(values, i));
        char at[300];

        snprintf(at, sizeof(at), "%s/%zu", pointer, i);
        if (path && path[0] != '/')
            problems_add(problems, at, "must be an absolute path or null");
    }
}

static void check_values(json_t *values, const char *pointer, struct problems *problems)
{
    size_t n = json_array_size(values);

    if (n == 0 || n > RUN_MATRIX_VALUES_MAX) {
        problems_add(problems, pointer, "must be an array of 1 to %d strings and nulls",
                     RUN_MATRIX_VALUES_MAX);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        json_t *value = json_array_get(values, i);
        char at[300];
        bool is_repeated = false;

        for (size_t k = 0; k < i; k++)
            is_repeated = is_repeated || json_equal(json_array_get(values, k), value);
        snprintf(at, sizeof(at), "%s/%zu", pointer, i);
        if (is_repeated)
            problems_add(problems, at, "is listed twice");
        else if (!json_is_null(value))
            spec_check_env_value(value, at, problems);
    }
}

void run_matrix_check(json_t *matrix, const char *pointer, struct problems *problems)
{
    const char *name, *reason = NULL;
    json_t *values;

    if (!json_is_object(matrix) || json_object_size(matrix) > VARIABLES_MAX) {
        problems_add(problems, pointer, "must be an object of at most %d variables",
                     VARIABLES_MAX);
        return;
    }
    json_object_foreach (matrix, name, values) {
        char at[256];

        spec_child_pointer(at, sizeof(at), pointer, name);
        if (is_library(name))
            check_paths(values, at, problems);
        else if (env_policy_check(name, &reason) == ENV_POLICY_REFUSE)
            problems_add(problems, at, "%.60s %s", name, reason);
        check_values(values, at, problems);
    }
}

static size_t combinations(const struct run_spec *spec)
{
    size_t n = 1;
    const char *name;
    json_t *values;

    json_object_foreach (spec->matrix, name, values)
        if (n <= RUN_CASES_MAX)
            n *= json_array_size(values);
    return n;
}

size_t run_matrix_cases(const struct run_spec *spec)
{
    return combinations(spec) * (size_t)spec->repeats;
}

void run_matrix_check_spec(const struct run_spec *spec, struct problems *problems)
{
    const char *name;
    json_t *values;

    json_object_foreach (spec->matrix, name, values) {
        char at[256];

        spec_child_pointer(at, sizeof(at), "/matrix", name);
        if (json_object_get(spec->env, name))
            problems_add(problems, at, "is also set in env");
    }
    if (spec->baseline.given && json_object_size(spec->matrix) > 0)
        problems_add(problems, "/baseline",
                     "cannot be combined with a matrix, whose combinations are compared "
                     "with each other");
    if (run_matrix_cases(spec) > RUN_CASES_MAX)
        problems_add(problems, "/matrix",
                     "makes more than %d cases: combinations times repeats",
                     RUN_CASES_MAX);
}

int run_matrix_repeat(const struct run_spec *spec, size_t i)
{
    return (int)(spec->order == ORDER_INTERLEAVED ? i / combinations(spec)
                                                  : i % (size_t)spec->repeats);
}

size_t run_matrix_combination(const struct run_spec *spec, size_t i)
{
    size_t n = combinations(spec);

    if (spec->order == ORDER_SEQUENTIAL)
        return i / (size_t)spec->repeats;
    return i / n % 2 ? n - 1 - i % n : i % n;
}

json_t *run_matrix_env(const struct run_spec *spec, size_t i)
{
    size_t left = run_matrix_combination(spec, i), span = combinations(spec);
    json_t *env, *values;
    const char *name;

    if (json_object_size(spec->matrix) == 0)
        return NULL;
    env = json_object();
    /* The last variable changes fastest. */
    json_object_foreach (spec->matrix, name, values) {
        span /= json_array_size(values);
        json_object_set(env, name, json_array_get(values, left / span));
        left %= span;
    }
    return env;
}

static bool is_read(const char *backend, const char *name)
{
    bool is_nccl = strncmp(name, "NCCL_", 5) == 0 || is_library(name);
    bool is_sim = strncmp(name, "SIM_", 4) == 0;

    if (strcmp(backend, "sim") == 0)
        return is_sim || strcmp(name, "NCCL_ALGO") == 0;
    return strcmp(backend, "host") != 0 || (!is_nccl && !is_sim);
}

const char *run_matrix_unread(const struct run_spec *spec, const char *backend, char *out,
                              size_t size)
{
    const char *name;
    json_t *values;
    size_t n = 0;

    *out = '\0';
    json_object_foreach (spec->matrix, name, values)
        if (!is_read(backend, name) && n < size)
            n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", name);
    return out;
}

const char *run_matrix_env_text(json_t *env, char *out, size_t size)
{
    json_t *shown = clean_text_shown(env, false), *value;
    const char *name;
    size_t n = 0;

    out[0] = '\0';
    json_object_foreach (shown, name, value) {
        const char *text = json_string_value(value);

        if (n < size)
            n += (size_t)snprintf(out + n, size - n, "%s%s%s%s", n ? ", " : " (", name,
                                  text ? "=" : " unset", text ? text : "");
    }
    if (n > 0 && n + 1 < size)
        snprintf(out + n, size - n, ")");
    json_decref(shown);
    return out;
}

const char *run_matrix_case_text(const json_t *c, char *out, size_t size)
{
    const json_t *nodes = json_object_get(c, "nodes");
    size_t count = json_array_size(nodes), n;

    run_matrix_env_text(json_object_get(c, "env"), out, size);
    n = strlen(out);
    for (size_t i = 0; i < count && i < NODES_NAMED_MAX && n < size; i++) {
        const char *name = json_string_value(json_array_get(nodes, i));

        n += (size_t)snprintf(out + n, size - n, "%s%s", i ? ", " : " on ",
                              name ? name : "?");
    }
    if (count > NODES_NAMED_MAX && n < size)
        snprintf(out + n, size - n, " and %zu more", count - NODES_NAMED_MAX);
    return out;
}
