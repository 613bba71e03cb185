/* SPDX-License-Identifier: Apache-2.0 */
/* test_catchup.c - every event of a run once and in order, from two sources */
#include "server/api/catchup.h"
#include "tests/unit/test.h"

TEST(reads_an_ended_run_to_its_end)
{
    struct catchup c;

    catchup_init(&c, 0, true);
    assert_int_equal(catchup_page(&c, 200, 200), CATCHUP_READ);
    assert_int_equal(catchup_page(&c, 230, 30), CATCHUP_READ);
    assert_int_equal(catchup_page(&c, 230, 0), CATCHUP_END);
}

TEST(goes_live_after_an_empty_page)
{
    enum catchup_step step;
    struct catchup c;

    catchup_init(&c, 5, false);
    assert_false(catchup_event(&c, 6, &step));
    assert_int_equal(step, CATCHUP_WAIT);
    assert_int_equal(catchup_page(&c, 6, 1), CATCHUP_READ);
    assert_int_equal(catchup_page(&c, 6, 0), CATCHUP_WAIT);
    assert_true(catchup_event(&c, 7, &step));
    assert_false(catchup_event(&c, 7, &step));
    assert_int_equal(step, CATCHUP_WAIT);
    assert_true(catchup_event(&c, 8, &step));
    assert_int_equal(catchup_over(&c), CATCHUP_END);
}

TEST(reads_again_what_was_shown_during_an_empty_page)
{
    enum catchup_step step;
    struct catchup c;

    catchup_init(&c, 0, false);
    assert_int_equal(catchup_page(&c, 3, 3), CATCHUP_READ);
    assert_false(catchup_event(&c, 4, &step));
    assert_int_equal(catchup_over(&c), CATCHUP_WAIT);
    assert_int_equal(catchup_page(&c, 3, 0), CATCHUP_READ);
    assert_int_equal(catchup_page(&c, 4, 1), CATCHUP_READ);
    assert_int_equal(catchup_page(&c, 4, 0), CATCHUP_END);
}

TEST(falls_back_to_pages_on_a_gap_or_a_slow_client)
{
    enum catchup_step step;
    struct catchup c;

    catchup_init(&c, 0, false);
    assert_int_equal(catchup_page(&c, 0, 0), CATCHUP_WAIT);
    assert_true(catchup_event(&c, 1, &step));
    assert_false(catchup_event(&c, 3, &step));
    assert_int_equal(step, CATCHUP_READ);
    assert_false(catchup_event(&c, 4, &step));
    assert_int_equal(step, CATCHUP_WAIT);
    assert_int_equal(catchup_page(&c, 4, 3), CATCHUP_READ);
    assert_int_equal(catchup_page(&c, 4, 0), CATCHUP_WAIT);
    catchup_fall_back(&c);
    assert_false(catchup_event(&c, 5, &step));
    assert_int_equal(catchup_over(&c), CATCHUP_WAIT);
    assert_int_equal(catchup_page(&c, 5, 1), CATCHUP_READ);
    assert_int_equal(catchup_page(&c, 5, 0), CATCHUP_END);
}

/* A store, a watch and a client in every order that chance brings. */
struct world {
    uint64_t chance; /* the state of the generator */
    struct catchup c;
    int64_t stored, shown, read_from;
    int64_t received; /* the client's last id; each must follow the one before */
    uint64_t read_count;
    bool is_reading, has_answer, is_over, has_ended;
};

/* A number below n; xorshift, so that a seed gives the same walk everywhere. */
static int64_t any_below(struct world *world, int64_t n)
{
    world->chance ^= world->chance << 13;
    world->chance ^= world->chance >> 7;
    world->chance ^= world->chance << 17;
    return (int64_t)(world->chance >> 11) % n;
}

static void step_taken(struct world *world, enum catchup_step step)
{
    if (step == CATCHUP_END)
        world->has_ended = true;
    else if (step == CATCHUP_READ && !world->is_reading) {
        world->is_reading = true;
        world->has_answer = false;
    }
}

static void show_next(struct world *world)
{
    enum catchup_step step;

    world->shown++;
    if (catchup_event(&world->c, world->shown, &step)) {
        assert_int_equal(world->received + 1, world->shown);
        world->received = world->shown;
    }
    step_taken(world, step);
}

static void store_answers(struct world *world)
{
    int64_t last = world->read_from + (int64_t)world->read_count;

    world->is_reading = false;
    assert_int_equal(world->received, world->read_from);
    world->received = last;
    step_taken(world, catchup_page(&world->c, last, world->read_count));
}

static void take_any_step(struct world *world, int64_t total)
{
    switch (any_below(world, 5)) {
    case 0:
        world->stored += world->stored < total;
        break;
    case 1:
        if (world->shown < world->stored)
            show_next(world);
        else if (world->shown == total && !world->is_over) {
            world->is_over = true;
            step_taken(world, catchup_over(&world->c));
        }
        break;
    case 2:
        if (world->is_reading && !world->has_answer) {
            world->has_answer = true;
            world->read_from = world->c.sent;
            world->read_count = (uint64_t)(world->stored - world->c.sent);
            if (world->read_count > 3)
                world->read_count = 3;
        }
        break;
    case 3:
        if (world->is_reading && world->has_answer)
            store_answers(world);
        break;
    default:
        if (world->c.is_live && any_below(world, 8) == 0) {
            catchup_fall_back(&world->c);
            step_taken(world, CATCHUP_READ);
        }
        break;
    }
}

TEST(gives_each_event_once_in_any_order_of_things)
{
    for (unsigned seed = 1; seed <= 3000; seed++) {
        struct world world = {.chance = seed};
        int64_t total;
        int steps = 0;

        total = any_below(&world, 40);
        world.stored = any_below(&world, total + 1);
        world.shown = any_below(&world, world.stored + 1);
        catchup_init(&world.c, 0, false);
        step_taken(&world, CATCHUP_READ);
        while (!world.has_ended && ++steps < 100000)
            take_any_step(&world, total);
        assert_true(world.has_ended);
        assert_int_equal(world.received, total);
    }
}
