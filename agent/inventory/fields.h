/* SPDX-License-Identifier: Apache-2.0 */
/* fields.h - reads members of an object from small files of /sys and /proc, by a table of
 * name, file and format */
#ifndef RINGBENCH_AGENT_INVENTORY_FIELDS_H
#define RINGBENCH_AGENT_INVENTORY_FIELDS_H

#include <jansson.h>
#include <stddef.h>

enum field_kind {
    FIELD_TEXT,
    /* a word in lower case, without a number before it: "4: ACTIVE" becomes "active" */
    FIELD_WORD,
    /* the number at the beginning of a line such as "400 Gb/sec"; a negative number means
     * no value */
    FIELD_NUMBER,
    FIELD_LINK, /* the last component of a symbolic link's target */
};

struct field {
    const char *name, *file;
    enum field_kind kind;
};

#define FIELDS_PATH_MAX 512

/* Set the members whose files below root + dir can be read. Other members stay absent. */
void fields_read(json_t *object, const char *root, const char *dir,
                 const struct field *fields, size_t n);

/* Visit the names in root + dir in version order: mlx5_2 before mlx5_10. Visits nothing
 * if the folder does not exist. */
typedef void (*fields_visit_fn)(void *arg, const char *name);
void fields_each(const char *root, const char *dir, fields_visit_fn visit, void *arg);

#endif
