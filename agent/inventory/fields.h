/* SPDX-License-Identifier: Apache-2.0 */
/* fields.h - facts that stand in small files of /sys and /proc: tables of a name, a file,
 * and how it is read */
#ifndef RINGBENCH_AGENT_INVENTORY_FIELDS_H
#define RINGBENCH_AGENT_INVENTORY_FIELDS_H

#include <jansson.h>
#include <stddef.h>

enum field_kind {
    FIELD_TEXT,
    FIELD_WORD,   /* in lower case, without a number before it: "4: ACTIVE" */
    FIELD_NUMBER, /* at the line's begin: "400 Gb/sec"; below 0 says nothing */
    FIELD_LINK,   /* the last part of where it points to */
};

struct field {
    const char *name, *file;
    enum field_kind kind;
};

#define FIELDS_PATH_MAX 512

/* Set in the object what can be read below root + dir, and nothing for the rest. */
void fields_read(json_t *object, const char *root, const char *dir,
                 const struct field *fields, size_t n);

/* Visit the names in root + dir, mlx5_2 before mlx5_10. None where there is no such
 * folder. */
typedef void (*fields_visit_fn)(void *arg, const char *name);
void fields_each(const char *root, const char *dir, fields_visit_fn visit, void *arg);

#endif
