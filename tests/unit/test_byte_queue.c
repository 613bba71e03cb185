/* test_byte_queue.c - bytes come out as they went in */
#include "server/http/byte_queue.h"
#include "tests/unit/test.h"

TEST(keeps_order_over_odd_pieces)
{
    struct byte_queue queue;
    unsigned char piece[9001], in = 0, out = 0;
    size_t pushed = 0, popped = 0;

    byte_queue_init(&queue);
    for (size_t round = 1; round < 400; round++) {
        size_t n = round * 7919 % sizeof(piece);

        for (size_t i = 0; i < n; i++)
            piece[i] = in++;
        assert_int_equal(byte_queue_push(&queue, piece, n), 0);
        pushed += n;
        n = byte_queue_pop(&queue, piece, round * 104729 % sizeof(piece));
        for (size_t i = 0; i < n; i++)
            assert_int_equal(piece[i], out++);
        popped += n;
        assert_int_equal(queue.len, pushed - popped);
    }
    byte_queue_release(&queue);
    assert_int_equal(queue.len, 0);
}

TEST(empties_and_fills_again)
{
    struct byte_queue queue;
    char out[8];

    byte_queue_init(&queue);
    assert_int_equal(byte_queue_pop(&queue, out, sizeof(out)), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(byte_queue_push(&queue, "", 0), 0);
        assert_int_equal(byte_queue_push(&queue, "abc", 3), 0);
        assert_int_equal(byte_queue_pop(&queue, out, 2), 2);
        assert_int_equal(byte_queue_pop(&queue, out, 8), 1);
        assert_int_equal(out[0], 'c');
        assert_null(queue.head);
    }
    byte_queue_release(&queue);
}
