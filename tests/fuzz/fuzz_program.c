/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_program.c - files of programs.d, arguments of runs, and lines that programs print.
 * The input has three parts, cut at zero bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/process/program.h"
#include "common/base/json_util.h"
#include "common/spec/command_template.h"
#include "common/spec/program_schema.h"
#include "common/spec/run_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_figure(void *arg, const struct metric *metric, double value,
                      json_t *labels)
{
    (void)arg;
    if (!metric->name || value - value < 0.0 || value - value > 0.0 ||
        json_object_size(labels) > METRIC_LABELS_MAX)
        abort();
}

/* An agent's declaration and a run's arguments as the server gets them: unchecked. */
static void complete_anything(json_t *parameters, json_t *args)
{
    struct problems problems;
    json_t *values;

    problems_init(&problems);
    values = program_schema_complete(parameters, args, "/program/args", &problems);
    if (!values != (problems.count > 0))
        abort();
    json_decref(values);
    problems_release(&problems);
}

static void on_given_up(void *arg, const struct metric *metric)
{
    (void)arg;
    if (!metric->name)
        abort();
}

static void use(const struct program *program, json_t *args, const char *line, size_t len)
{
    const struct metric_handlers handlers = {on_figure, on_given_up, NULL};
    json_t *told = program_to_json(program);
    struct error err;
    char **argv = program_argv(program, args, &err);
    size_t n = 0;

    while (argv && argv[n])
        n++;
    if (!told || (argv && n != json_array_size(program->argv)))
        abort();
    command_template_free(argv);
    json_decref(told);
    metric_set_line(program->metrics, METRIC_STDOUT, line, len, &handlers);
    metric_set_line(program->metrics, METRIC_STDERR, line, len, &handlers);
}

/* The part that begins at *at, which is moved behind it. */
static const char *part(const char **at, const char *end, size_t *len)
{
    const char *start = *at;
    const char *zero = memchr(start, '\0', (size_t)(end - start));
    const char *stop = zero ? zero : end;

    *len = (size_t)(stop - start);
    *at = zero ? zero + 1 : end;
    return start;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    struct problems problems;
    struct program *program;
    json_t *file, *args;
    const char *text;
    size_t len;

    if (size == 0)
        return 0;
    text = part(&at, end, &len);
    file = json_parse(text, len, NULL);
    text = part(&at, end, &len);
    args = json_parse(text, len, NULL);
    problems_init(&problems);
    program = file ? program_parse("p", file, "/tmp", &problems) : NULL;
    if (file && !program != (problems.count > 0))
        abort();
    if (program)
        use(program, args, at, (size_t)(end - at));
    complete_anything(json_object_get(file, "parameters"), args);
    program_destroy(program);
    problems_release(&problems);
    json_decref(file);
    json_decref(args);
    return 0;
}
