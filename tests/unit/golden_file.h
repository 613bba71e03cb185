/* SPDX-License-Identifier: Apache-2.0 */
/* golden_file.h - compare output with a file of tests/unit/golden; to accept a change on
 * purpose, run the test with RINGBENCH_WRITE_GOLDEN=1 and look at the difference */
#ifndef RINGBENCH_TESTS_UNIT_GOLDEN_FILE_H
#define RINGBENCH_TESTS_UNIT_GOLDEN_FILE_H

#include "common/base/buf.h"
#include "tests/unit/test.h"

#define GOLDEN_PATH_MAX 1024
#define GOLDEN_FILE_MAX (256 * 1024)

static inline const char *golden_path(char out[GOLDEN_PATH_MAX], const char *name)
{
    snprintf(out, GOLDEN_PATH_MAX, "%s/%s", GOLDEN_DIR, name);
    return out;
}

/* The content of a file; the caller frees it. */
static inline char *golden_read(const char *name)
{
    char path[GOLDEN_PATH_MAX], *text = calloc(1, GOLDEN_FILE_MAX);
    FILE *file = fopen(golden_path(path, name), "r");

    assert_non_null(text);
    if (!file)
        fail_msg("cannot open %s", path);
    else
        assert_true(fread(text, 1, GOLDEN_FILE_MAX - 1, file) < GOLDEN_FILE_MAX - 1);
    if (file)
        fclose(file);
    return text;
}

static inline void golden_compare(const char *name, const char *got)
{
    char path[GOLDEN_PATH_MAX], *want;

    if (getenv("RINGBENCH_WRITE_GOLDEN")) {
        FILE *file = fopen(golden_path(path, name), "w");

        assert_non_null(file);
        fputs(got, file);
        fclose(file);
        return;
    }
    want = golden_read(name);
    if (strcmp(want, got) != 0)
        fail_msg("%s: wanted\n%s\ngot\n%s", name, want, got);
    free(want);
}

/* A page of the docs, with what stands between two marks as `put` writes it. */
static inline void golden_compare_part(const char *page, const char *begin,
                                       const char *end, void (*put)(struct buf *out))
{
    char *text = golden_read(page);
    const char *first = strstr(text, begin), *last = strstr(text, end);
    struct buf out;

    assert_non_null(first);
    assert_non_null(last);
    buf_init(&out, GOLDEN_FILE_MAX);
    buf_append(&out, text, (size_t)(first + strlen(begin) - text));
    put(&out);
    buf_append_str(&out, last);
    golden_compare(page, out.data);
    buf_release(&out);
    free(text);
}

#endif
