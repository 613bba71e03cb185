/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - parses a program's options. A table of options drives the command line,
 * environment, config file and --help. */
#ifndef RINGBENCH_COMMON_BASE_OPTIONS_H
#define RINGBENCH_COMMON_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/error.h"

enum option_type {
    OPTION_STRING, /* char *, owned by the struct */
    OPTION_INT,    /* long *, within min and max */
    OPTION_FLAG,   /* bool; true if the option is given; "false" in a file or the
                      environment unsets it */
    OPTION_LIST    /* struct option_list; each use appends one value */
};

#define OPTION_VARIABLE_MAX 128

struct option_list {
    char **items;
    size_t count;
};

struct option {
    const char *name; /* name without leading dashes, such as "data-dir" */
    enum option_type type;
    size_t offset;        /* offset of the member in the config struct */
    const char *fallback; /* default value as text; NULL: none */
    /* name of the value in the help, such as "DIR"; NULL for flags */
    const char *argument;
    const char *help;
    long min, max; /* limits of an OPTION_INT */
};

/* Fill `config` (zeroed by the caller) from these sources, in ascending precedence:
 * defaults, the file named by --config (lines "name = value", # comments),
 * RINGBENCH_<NAME> variables (dashes become underscores), the command line ("--name
 * value" or "--name=value"). The table ends with a NULL name. Other RINGBENCH_ variables
 * cause a warning on stderr, see variables.h. Return 0, 1 if --help or --version was
 * printed to stdout, or -1. */
int options_parse(const char *program, const char *summary, const struct option *table,
                  void *config, int argc, char **argv, struct error *err);

/* Free the values that options_parse() allocated. */
void options_release(const struct option *table, void *config);

void options_print_help(FILE *out, const char *program, const char *summary,
                        const struct option *table);

#endif
