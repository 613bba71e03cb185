/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - parses a program's options from a table */
#include "common/base/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/variables.h"
#include "common/base/version.h"

struct context {
    const struct option *table;
    char *config;
    /* for each option, the rank of the source that set it; see set_option() */
    int *level;
};

static const struct option *find(const struct option *table, const char *name, size_t len)
{
    for (; table->name; table++)
        if (strlen(table->name) == len && strncmp(table->name, name, len) == 0)
            return table;
    return NULL;
}

static int parse_flag(const char *text, bool *value)
{
    static const char *const yes[] = {"true", "yes", "on", "1", NULL};
    static const char *const no[] = {"false", "no", "off", "0", NULL};

    for (size_t i = 0; yes[i]; i++) {
        if (strcmp(text, yes[i]) == 0) {
            *value = true;
            return 0;
        }
    }
    for (size_t i = 0; no[i]; i++) {
        if (strcmp(text, no[i]) == 0) {
            *value = false;
            return 0;
        }
    }
    return -1;
}

static int set_int(const struct option *option, void *field, const char *text,
                   struct error *err)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (errno || end == text || *end != '\0' || value < option->min ||
        value > option->max)
        return error_set(err, ERROR_INVALID,
                         "--%s: '%.60s' is not a whole number from %ld to %ld",
                         option->name, text, option->min, option->max);
    *(long *)field = value;
    return 0;
}

static void clear_list(struct option_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    list->items = NULL;
    list->count = 0;
}

static void add_item(struct option_list *list, const char *text)
{
    list->items =
        memory_resized(list->items, list->count + 1, sizeof(*list->items), "options");
    list->items[list->count++] = memory_text(text, "options");
}

/* Set one option. level: the rank of the source, from 0 (default) to 3 (command line). A
 * list keeps only the values from the source with the highest rank. */
static int set_option(struct context *context, const struct option *option,
                      const char *text, int level, struct error *err)
{
    size_t index = (size_t)(option - context->table);
    void *field = context->config + option->offset;

    switch (option->type) {
    case OPTION_STRING:
        free(*(char **)field);
        *(char **)field = memory_text(text, "options");
        return 0;
    case OPTION_INT:
        return set_int(option, field, text, err);
    case OPTION_FLAG:
        if (parse_flag(text, (bool *)field))
            return error_set(err, ERROR_INVALID, "--%s: '%.60s' is not true or false",
                             option->name, text);
        return 0;
    case OPTION_LIST:
        if (level > context->level[index])
            clear_list((struct option_list *)field);
        context->level[index] = level;
        add_item((struct option_list *)field, text);
        return 0;
    }
    return error_set(err, ERROR_INTERNAL, "--%s has no type", option->name);
}

static int apply_defaults(struct context *context, struct error *err)
{
    for (const struct option *o = context->table; o->name; o++)
        if (o->fallback && set_option(context, o, o->fallback, 0, err))
            return -1;
    return 0;
}

static char *trim(char *text)
{
    char *end;

    while (isspace((unsigned char)*text))
        text++;
    end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

static int apply_line(struct context *context, char *line, struct error *err)
{
    char *name = trim(line);
    char *equals = strchr(name, '=');
    const struct option *option;

    if (*name == '\0' || *name == '#')
        return 0;
    if (!equals)
        return error_set(err, ERROR_INVALID, "'%.60s' is not \"name = value\"", name);
    *equals = '\0';
    name = trim(name);
    option = find(context->table, name, strlen(name));
    if (!option)
        return error_set(err, ERROR_INVALID, "unknown option '%.60s'", name);
    return set_option(context, option, trim(equals + 1), 1, err);
}

static int apply_file(struct context *context, const char *path, struct error *err)
{
    char line[4096];
    FILE *file = fopen(path, "re");
    int number = 0, result = 0;

    if (!file)
        return error_set_errno(err, ERROR_IO, errno, "cannot open config file %s", path);
    while (!result && fgets(line, sizeof(line), file)) {
        number++;
        if (strlen(line) == sizeof(line) - 1 && line[sizeof(line) - 2] != '\n')
            result = error_set(err, ERROR_LIMIT, "the line is longer than %zu bytes",
                               sizeof(line) - 2);
        else
            result = apply_line(context, line, err);
        if (result)
            error_prefix(err, "%s line %d", path, number);
    }
    if (!result && ferror(file))
        result =
            error_set_errno(err, ERROR_IO, errno, "cannot read config file %s", path);
    fclose(file);
    return result;
}

static int apply_environment(struct context *context, struct error *err)
{
    char name[OPTION_VARIABLE_MAX];
    const char *value;

    for (const struct option *o = context->table; o->name; o++) {
        option_variable(o, name);
        value = getenv(name);
        if (value && set_option(context, o, value, 2, err))
            return error_prefix(err, "environment variable %s", name);
    }
    return 0;
}

static int apply_arguments(struct context *context, int argc, char **argv,
                           struct error *err)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        const struct option *option;
        const char *value;
        size_t len;

        if (strncmp(name, "--", 2) != 0)
            return error_set(err, ERROR_INVALID,
                             "unexpected argument '%.60s'; try --help", name);
        name += 2;
        len = strcspn(name, "=");
        option = find(context->table, name, len);
        if (!option)
            return error_set(err, ERROR_INVALID, "unknown option '--%.*s'; try --help",
                             (int)(len > 60 ? 60 : len), name);
        if (name[len] == '=')
            value = name + len + 1;
        else if (option->type == OPTION_FLAG)
            value = "true";
        else if (i + 1 < argc)
            value = argv[++i];
        else
            return error_set(err, ERROR_INVALID, "--%s needs a value", option->name);
        if (set_option(context, option, value, 3, err))
            return -1;
    }
    return 0;
}

/* Search the command line for --help, --version or --config at any position, before other
 * options are parsed. The last occurrence wins, as for every option. */
static const char *peek(int argc, char **argv, const char *name)
{
    const char *value = NULL;
    size_t len = strlen(name);

    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], name, len) != 0)
            continue;
        if (argv[i][len] == '=')
            value = argv[i] + len + 1;
        else if (argv[i][len] == '\0')
            value = i + 1 < argc ? argv[i + 1] : "";
    }
    return value;
}

void options_print_help(FILE *out, const char *program, const char *summary,
                        const struct option *table)
{
    fprintf(out, "usage: %s [options]\n\n%s\n\n", program, summary);
    for (; table->name; table++) {
        char left[64];

        snprintf(left, sizeof(left), "--%s%s%s", table->name, table->argument ? " " : "",
                 table->argument ? table->argument : "");
        fprintf(out, "  %-29s  %s", left, table->help);
        if (table->fallback && table->type != OPTION_FLAG)
            fprintf(out, " (default: %s)", table->fallback);
        fputc('\n', out);
    }
    fprintf(out, "  %-29s  %s\n  %-29s  %s\n", "--help", "print this text and exit",
            "--version", "print the version and exit");
    fprintf(out, "\nEach option can also be set in the file given by --config, as \"name "
                 "= value\",\n"
                 "or by the environment variable RINGBENCH_NAME.\n");
}

int options_parse(const char *program, const char *summary, const struct option *table,
                  void *config, int argc, char **argv, struct error *err)
{
    struct context context = {.table = table, .config = config};
    const char *file;
    size_t n = 0;
    int result = -1;

    if (peek(argc, argv, "--help")) {
        options_print_help(stdout, program, summary, table);
        return 1;
    }
    if (peek(argc, argv, "--version")) {
        return version_print(program) ? error_set_errno(err, ERROR_IO, errno, "--version")
                                      : 1;
    }
    while (table[n].name)
        n++;
    context.level = memory_zeroed(n + 1, sizeof(*context.level), "options");
    file = peek(argc, argv, "--config");
    if (!file)
        file = getenv("RINGBENCH_CONFIG");
    if (!apply_defaults(&context, err) && !(file && apply_file(&context, file, err)) &&
        !apply_environment(&context, err) && !apply_arguments(&context, argc, argv, err))
        result = 0;
    free(context.level);
    variables_check(stderr, program, table);
    return result;
}

void options_release(const struct option *table, void *config)
{
    for (; table->name; table++) {
        void *field = (char *)config + table->offset;

        if (table->type == OPTION_STRING) {
            free(*(char **)field);
            *(char **)field = NULL;
        } else if (table->type == OPTION_LIST) {
            clear_list(field);
        }
    }
}
