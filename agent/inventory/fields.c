/* SPDX-License-Identifier: Apache-2.0 */
/* fields.c - reads members of an object from small files of /sys and /proc */
#include "agent/inventory/fields.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/machine/host_file.h"
#include "common/base/clean_text.h"

#define NUMBER_MAX 9e15

static json_t *text_json(const char *text)
{
    return text[0] ? clean_text_json(text, strlen(text)) : NULL;
}

static json_t *word_json(char *text)
{
    char *word = text + strspn(text, "0123456789");

    word = word > text && *word == ':' ? word + 1 + strspn(word + 1, " ") : text;
    for (char *at = word; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return text_json(word);
}

static json_t *number_json(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || !(value >= 0.0 && value <= NUMBER_MAX))
        return NULL;
    return value == floor(value) ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *link_json(const char *root, const char *path)
{
    char full[PATH_MAX], target[PATH_MAX];
    const char *name;
    ssize_t len;

    if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
        return NULL;
    len = readlink(full, target, sizeof(target) - 1);
    if (len < 0)
        return NULL;
    target[len] = '\0';
    name = strrchr(target, '/');
    return text_json(name ? name + 1 : target);
}

static json_t *field_json(const char *root, const char *dir, const struct field *field)
{
    char path[FIELDS_PATH_MAX], line[256];

    if (snprintf(path, sizeof(path), "%s/%s", dir, field->file) >= (int)sizeof(path))
        return NULL;
    if (field->kind == FIELD_LINK)
        return link_json(root, path);
    if (!host_file_line(root, path, line, sizeof(line)))
        return NULL;
    if (field->kind == FIELD_NUMBER)
        return number_json(line);
    return field->kind == FIELD_WORD ? word_json(line) : text_json(line);
}

void fields_read(json_t *object, const char *root, const char *dir,
                 const struct field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        json_t *value = field_json(root, dir, &fields[i]);

        if (value)
            json_object_set_new(object, fields[i].name, value);
    }
}

static int is_name(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

void fields_each(const char *root, const char *dir, fields_visit_fn visit, void *arg)
{
    struct dirent **entries = NULL;
    char full[PATH_MAX];
    int n = -1;

    if (snprintf(full, sizeof(full), "%s%s", root, dir) < (int)sizeof(full))
        n = scandir(full, &entries, is_name, versionsort);
    for (int i = 0; i < n; i++) {
        visit(arg, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}
