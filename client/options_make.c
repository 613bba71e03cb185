/* SPDX-License-Identifier: Apache-2.0 */
/* options_make.c - generates the script `ringbench`: replaces the line %SPEC_OPTIONS%
 * with the options from the table of run spec fields */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/spec/spec_field.h"

#define LINE_MAX_BYTES 4096

/* client/ringbench explains the kinds. */
static const char *kind_of(const struct spec_field *field)
{
    if (field->kind == &spec_list)
        return "list";
    return field->choices && field->kind != &spec_word_or_integer ? "choice"
           : field->kind == &spec_boolean                         ? "choice"
                                                                  : "number";
}

static void put_choices(const struct spec_field *field, FILE *out)
{
    if (field->kind == &spec_boolean)
        fprintf(out, " false true");
    for (int i = 0; field->kind == &spec_choice && field->choices[i]; i++)
        fprintf(out, " %s", field->choices[i]);
    for (int i = 0; field->kind == &spec_list && i < field->names->count; i++)
        fprintf(out, " %s", field->names->name(i));
}

static void put_options(const struct spec_fields *fields, const char *parent, FILE *out)
{
    for (size_t i = 0; i < fields->count; i++) {
        const struct spec_field *field = &fields->at[i];
        char path[128];

        snprintf(path, sizeof(path), "%s%s%s", parent, *parent ? "." : "", field->name);
        if (field->option) {
            fprintf(out, "%s %s %s", field->option, kind_of(field), path);
            put_choices(field, out);
            fputc('\n', out);
        }
        if (field->members)
            put_options(field->members, path, out);
    }
}

int main(int argc, char **argv)
{
    FILE *in = argc == 3 ? fopen(argv[1], "r") : NULL;
    FILE *out = in ? fopen(argv[2], "w") : NULL;
    char line[LINE_MAX_BYTES];
    int result = 1;

    if (out) {
        while (fgets(line, sizeof(line), in))
            if (strcmp(line, "%SPEC_OPTIONS%\n") == 0)
                put_options(run_spec_fields(), "", out);
            else
                fputs(line, out);
        result = ferror(in) || ferror(out);
        result |= fclose(out) != 0 || chmod(argv[2], 0755) != 0;
    }
    if (in)
        fclose(in);
    if (result)
        perror("options_make");
    return result;
}
