/* SPDX-License-Identifier: Apache-2.0 */
/* test_stack_quote.c - what is quoted of a worker's stacks */
#include "agent/case/stack_quote.h"
#include "tests/unit/test.h"

static void feed(struct stack_quote *quote, const char *const *lines)
{
    memset(quote, 0, sizeof(*quote));
    for (size_t i = 0; lines[i]; i++)
        assert_true(stack_quote_line(quote, lines[i], strlen(lines[i])));
}

TEST(the_first_thread_is_quoted_without_what_every_stack_has)
{
    static const char *const lines[] = {
        "stack: 2 threads of process 7",
        "stack: thread 7 (main), state S",
        "stack:   #0 read+0x1d (libc.so.6+0xf81ad)",
        "stack:   #1 ? (libnccl.so.2+0x1)",
        "stack:   #2 ? (libnccl.so.2+0x2)",
        "stack:   #3 ncclCommInitRank+0x9 (libnccl.so.2+0x3)",
        "stack:   #4 main+0x9 (ringbench-worker-nccl+0x3)",
        "stack:   #5 __libc_start_call_main+0x9 (libc.so.6+0x3)",
        "stack:   #6 _start+0x9 (ringbench-worker-nccl+0x4)",
        "stack: thread 8 (progress), state S",
        "stack:   #0 poll+0x1d (libc.so.6+0xf81ad)",
        NULL};
    static const char *const end[] = {"stack: end", NULL};
    struct stack_quote quote;

    feed(&quote, lines);
    assert_string_equal(quote.text, "read <- libnccl.so.2 <- ncclCommInitRank");
    assert_false(quote.has_ended);
    feed(&quote, end);
    assert_true(quote.has_ended);
    assert_string_equal(quote.text, "");
}

TEST(a_thread_that_does_not_answer_is_quoted_with_why)
{
    static const char *const lines[] = {
        "stack: thread 7 (main), state D",
        "stack:   no answer in 1000 ms, in nfs_wait_on_request", NULL};
    struct stack_quote quote;

    feed(&quote, lines);
    assert_string_equal(quote.text, "no answer in 1000 ms, in nfs_wait_on_request");
}

TEST(what_is_quoted_has_a_limit_and_is_clean)
{
    struct stack_quote quote = {0};
    char line[1000];

    assert_true(stack_quote_line(&quote, "stack: thread 7 (x)", 19));
    for (int i = 0; i < 100; i++) {
        char *at =
            line + snprintf(line, sizeof(line), "stack:   #%d \x1b[31mf%d\xff", i, i);
        memset(at, 'x', 500);
        assert_true(stack_quote_line(&quote, line, (size_t)(at - line) + 500));
    }
    assert_int_equal(quote.names, STACK_QUOTE_NAMES);
    assert_true(strlen(quote.text) < sizeof(quote.text) - 1);
    assert_memory_equal(quote.text, "?[31mf0?xxx", 11);
    assert_null(strpbrk(quote.text, "\x1b\xff"));
}

TEST(other_lines_are_left_alone)
{
    static const char *const lines[] = {"", "stack", "stack:", " stack: end",
                                        "NCCL INFO stack: end"};
    struct stack_quote quote = {0};

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_false(stack_quote_line(&quote, lines[i], strlen(lines[i])));
    assert_true(stack_quote_line(&quote, "stack: ", 7));
    assert_false(quote.has_ended);
}
