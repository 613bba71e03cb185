/* SPDX-License-Identifier: Apache-2.0 */
/* test_capture.c - the beginning and the end of an output stream */
#include "agent/case/capture.h"
#include "tests/unit/test.h"

TEST(passes_little_through)
{
    struct capture capture;

    capture_init(&capture);
    capture_add(&capture, "one", 3);
    capture_add(&capture, "", 0);
    assert_string_equal(capture.pending.data, "one\n\n");
    buf_clear(&capture.pending);
    capture_end(&capture, "stdout");
    assert_int_equal(capture.pending.len, 0);
    capture_release(&capture);
}

/* Lines "0000000", "0000001", ... of 8 bytes with their newline. */
static void feed(struct capture *capture, struct buf *all, int first, int count)
{
    char line[16];

    for (int i = first; i < first + count; i++) {
        snprintf(line, sizeof(line), "%07d", i);
        capture_add(capture, line, 7);
        buf_append(all, capture->pending.data, capture->pending.len);
        buf_clear(&capture->pending);
    }
}

TEST(keeps_beginning_and_end_and_counts_the_rest)
{
    struct capture capture;
    struct buf all;
    const char *note;
    unsigned long cut;
    int n = 1000000;

    buf_init(&all, 10000000);
    capture_init(&capture);
    feed(&capture, &all, 0, n);
    assert_int_equal(all.len, CAPTURE_HEAD_MAX);
    capture_end(&capture, "stderr");
    buf_append(&all, capture.pending.data, capture.pending.len);
    note = strstr(all.data, "[ringbench: ");
    assert_non_null(note);
    assert_int_equal(note - all.data, CAPTURE_HEAD_MAX);
    cut = strtoul(note + strlen("[ringbench: "), NULL, 10);
    note = strchr(note, '\n') + 1;
    assert_int_equal(strlen(note), CAPTURE_TAIL_MAX);
    assert_int_equal((unsigned long)CAPTURE_HEAD_MAX + CAPTURE_TAIL_MAX + cut,
                     8UL * (unsigned long)n);
    assert_memory_equal(note + strlen(note) - 8, "0999999\n", 8);
    capture_release(&capture);
    buf_release(&all);
}

TEST(says_nothing_of_a_cut_when_all_fits)
{
    struct capture capture;
    struct buf all;
    int n = (CAPTURE_HEAD_MAX + CAPTURE_TAIL_MAX) / 8;

    buf_init(&all, 10000000);
    capture_init(&capture);
    feed(&capture, &all, 0, n);
    capture_end(&capture, "stderr");
    buf_append(&all, capture.pending.data, capture.pending.len);
    assert_int_equal(all.len, 8 * n);
    assert_null(strchr(all.data, '['));
    capture_release(&capture);
    buf_release(&all);
}

TEST(survives_lines_longer_than_the_tail)
{
    struct capture capture;
    char *line = calloc(1, 3 * CAPTURE_TAIL_MAX);

    memset(line, 'x', 3 * CAPTURE_TAIL_MAX);
    capture_init(&capture);
    for (int i = 0; i < 3; i++)
        capture_add(&capture, line, 3 * CAPTURE_TAIL_MAX);
    capture_add(&capture, "end", 3);
    buf_clear(&capture.pending);
    capture_end(&capture, "stderr");
    assert_non_null(strstr(capture.pending.data, "are omitted here]\nend\n"));
    capture_release(&capture);
    free(line);
}
