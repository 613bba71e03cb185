/* test_backlog.c - who is dropped when clients do not read */
#include "server/http/backlog.h"
#include "tests/unit/test.h"

#define MAX 100

static struct backlog backlog;
static struct backlog_entry *dropped;

static void drop(struct backlog_entry *entry)
{
    dropped = entry;
    backlog_clear(&backlog, entry);
}

static int start(void **state)
{
    (void)state;
    backlog_init(&backlog, MAX);
    dropped = NULL;
    return 0;
}

EACH_FIXTURE(start, NULL);

TEST(drops_who_has_not_read_for_longest)
{
    struct backlog_entry a = {.drop = drop}, b = {.drop = drop}, c = {.drop = drop};

    backlog_add(&backlog, &a, 40);
    backlog_add(&backlog, &b, 40);
    backlog_take(&backlog, &a, 10); /* it reads */
    assert_true(backlog_is_high(&backlog));
    backlog_add(&backlog, &c, 30);
    assert_null(dropped);
    backlog_add(&backlog, &c, 1);
    assert_ptr_equal(dropped, &b);
    assert_int_equal(backlog.bytes, 61);
    assert_int_equal(backlog.dropped, 1);
    backlog_take(&backlog, &a, 30);
    backlog_clear(&backlog, &c);
    backlog_clear(&backlog, &c);
    assert_int_equal(backlog.bytes, 0);
    assert_false(backlog_is_high(&backlog));
}

TEST(drops_who_stands_in_the_way_for_long)
{
    struct backlog_entry a = {.drop = drop}, b = {.drop = drop};

    backlog_add(&backlog, &a, 30);
    backlog_add(&backlog, &b, 40);
    backlog_tick(&backlog, 1);
    backlog_take(&backlog, &a, 1); /* it reads */
    assert_null(dropped);
    backlog_tick(&backlog, 1);
    assert_ptr_equal(dropped, &b);
    backlog_tick(&backlog, 1);
    backlog_tick(&backlog, 1);
    assert_int_equal(backlog.bytes, 29); /* in nobody's way */
}

TEST(drops_what_is_too_much_by_itself)
{
    struct backlog_entry a = {.drop = drop};

    backlog_add(&backlog, &a, MAX);
    assert_null(dropped);
    backlog_add(&backlog, &a, 1);
    assert_ptr_equal(dropped, &a);
    assert_int_equal(backlog.bytes, 0);
}
