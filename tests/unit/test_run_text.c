/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_text.c - a run as text, from recorded events */
#include "golden_file.h"

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "server/render/run_text.h"
#include "tests/unit/test.h"

static struct run_text *create(int n_cases)
{
    json_t *cases = json_array();
    json_t *run = json_pack("{s:s, s:{s:s}, s:o}", "id", "06cw1x2k3m4n", "spec",
                            "in_place", "both", "cases", cases);
    struct run_text *text;

    for (int i = 0; i < n_cases; i++)
        json_array_append_new(cases, json_object());
    text = run_text_create(run, "http://head:8080/runs/06cw1x2k3m4n", "curl -X POST URL");
    assert_non_null(text);
    json_decref(run);
    return text;
}

static void take(struct run_text *text, const char *line, struct buf *out)
{
    json_t *event = json_parse(line, strlen(line), NULL);

    assert_non_null(event);
    run_text_event(text, clock_parse_ms(json_get_str(event, "time", NULL)),
                   json_get_str(event, "type", ""), event, out);
    json_decref(event);
}

static void render(const char *input, const char *output)
{
    char *events = golden_read(input), *rest = events, *line;
    struct run_text *text = create(1);
    struct buf out;

    buf_init(&out, 1 << 20);
    run_text_begin(text, &out);
    while ((line = strsep(&rest, "\n")))
        if (*line)
            take(text, line, &out);
    run_text_end(text, &out);
    golden_compare(output, out.data);
    run_text_destroy(text);
    buf_release(&out);
    free(events);
}

TEST(tells_a_run_from_start_to_end)
{
    render("api/run.ndjson", "api/run.txt");
}

TEST(ends_a_failed_run_with_its_reason_on_one_line)
{
    render("api/run_failed.ndjson", "api/run_failed.txt");
}

TEST(a_single_row_is_no_rows)
{
    struct run_text *text = create(1);
    struct buf out;

    buf_init(&out, 1 << 16);
    take(text,
         "{\"id\":1,\"time\":\"2026-01-05T10:00:00.000Z\",\"type\":\"result\",\"case\":0,"
         "\"row\":0,\"series\":0,\"collective\":\"all_reduce\",\"dtype\":\"float32\","
         "\"redop\":\"sum\",\"root\":-1,\"in_place\":false,\"size\":8,\"count\":2,"
         "\"time_us\":1,\"algbw_gbs\":0.008,\"busbw_gbs\":0.008}",
         &out);
    take(text,
         "{\"id\":2,\"time\":\"2026-01-05T10:00:01.000Z\",\"type\":\"state\","
         "\"state\":\"completed\",\"reason\":null}",
         &out);
    run_text_end(text, &out);
    assert_non_null(strstr(out.data, "completed: 1 row,"));
    run_text_destroy(text);
    buf_release(&out);
}

TEST(says_that_figures_are_simulated)
{
    render("api/simulated.ndjson", "api/simulated.txt");
}

#define TIME "{\"time\":\"2026-01-31T10:00:01.000Z\",\"type\":"
#define CONDITIONS TIME "\"conditions\",\"node\":"
#define CASE(number, state)                                                              \
    TIME "\"case\",\"case\":" number ",\"attempt\":1,\"state\":\"" state "\"}"
#define CORE "\"bind\":{\"to\":\"core\",\"cpus\":[\"0\"]}"
#define NOT "\"bind\":{\"to\":\"none\",\"reason\":\"4 ranks, but 2 cores\"}"

/* What ranks are bound to when it is news; what may have changed the figures. */
TEST(says_under_which_conditions_a_case_ran)
{
    static const char *const events[] = {
        CASE("0", "rendezvous"),
        CONDITIONS "\"a\"," CORE ",\"notes\":[]}",
        CONDITIONS "\"b\"," CORE ",\"notes\":[]}",
        CASE("0", "running"),
        CONDITIONS "\"a\"," CORE ",\"notes\":[]}",
        CONDITIONS "\"b\"," CORE ",\"notes\":[\"it was hot\",\"and loud\"]}",
        CASE("0", "completed"),
        CASE("1", "rendezvous"),
        CONDITIONS "\"a\"," CORE ",\"notes\":[]}",
        CASE("1", "running"),
        CASE("1", "completed"),
        CASE("2", "rendezvous"),
        CONDITIONS "\"a\"," NOT ",\"notes\":[]}",
        CONDITIONS "\"b\"," CORE ",\"notes\":[]}",
        CASE("2", "running"),
        CONDITIONS "\"a\"," NOT ",\"notes\":[\"x\"]}",
        CONDITIONS "\"b\"," CORE ",\"notes\":[\"y\"]}",
        CASE("2", "failed"),
        /* A case so short that a node's last conditions come before it is seen to run. */
        CASE("3", "rendezvous"),
        CONDITIONS "\"b\"," NOT ",\"notes\":[]}",
        CONDITIONS "\"b\"," NOT ",\"seconds\":0.1,\"notes\":[]}",
        CASE("3", "running"),
        CASE("3", "completed"),
    };
    struct run_text *text = create(1);
    struct buf out;

    buf_init(&out, 1 << 20);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        take(text, events[i], &out);
    assert_string_equal(out.data, "# ranks bound to one core each\n"
                                  "# b: it was hot; and loud\n"
                                  "# ranks not bound: 4 ranks, but 2 cores (a)\n"
                                  "# a: x (and 1 more node)\n"
                                  "# ranks not bound: 4 ranks, but 2 cores (b)\n");
    run_text_destroy(text);
    buf_release(&out);
}

TEST(says_what_was_found_of_the_nodes_and_what_they_allow)
{
    struct run_text *text = create(1);
    struct buf out;

    buf_init(&out, 1 << 20);
    take(text,
         TIME
         "\"placed\",\"backend\":\"nccl\",\"world_size\":1,\"nodes\":[{\"name\":\"a\"}],"
         "\"verdicts\":[{\"kind\":\"preflight\",\"answer\":\"finding\",\"evidence\":{"
         "\"checks\":[{\"check\":\"shm\",\"answer\":\"finding\",\"sentence\":"
         "\"too\\nsmall\",\"command\":\"mount it\"},{\"check\":\"mtu\",\"answer\":"
         "\"finding\",\"sentence\":\"it differs\"}]}},{\"kind\":\"ceiling\",\"answer\":"
         "\"expected\",\"sentence\":\"rings reach 50 GB/s\"}]}",
         &out);
    assert_non_null(strstr(out.data,
                           "\n# preflight shm: finding: too\n#   small (fix: mount it)\n"
                           "# preflight mtu: finding: it differs\n"
                           "# ceiling: rings reach 50 GB/s\n"));
    buf_clear(&out);
    take(text,
         TIME
         "\"placed\",\"backend\":\"host\",\"world_size\":1,\"nodes\":[{\"name\":\"a\"}],"
         "\"verdicts\":[{\"kind\":\"ceiling\",\"answer\":\"not_enough_data\","
         "\"sentence\":\"unknown\"}]}",
         &out);
    assert_null(strstr(out.data, "ceiling"));
    run_text_destroy(text);
    buf_release(&out);
}

TEST(holds_back_joining_ranks_until_flushed)
{
    static const char *const events[] = {
        "{\"time\":\"2026-01-31T10:00:01.000Z\",\"type\":\"placed\",\"world_size\":3}",
        "{\"time\":\"2026-01-31T10:00:01.000Z\",\"type\":\"ranks\",\"ranks\":[0],"
        "\"state\":\"joined\"}",
        "{\"time\":\"2026-01-31T10:00:01.001Z\",\"type\":\"ranks\",\"ranks\":[1],"
        "\"state\":\"joined\"}",
    };
    struct run_text *text = create(1);
    struct buf out;

    buf_init(&out, 1 << 20);
    take(text, events[0], &out);
    take(text, events[1], &out);
    assert_null(strstr(out.data, "# 1 of 3 ranks joined\n"));
    take(text, events[2], &out);
    assert_null(strstr(out.data, "# 2 of 3"));
    assert_true(run_text_has_pending(text));
    run_text_flush(text, &out);
    assert_non_null(strstr(out.data, "# 2 of 3 ranks joined\n"));
    assert_false(run_text_has_pending(text));
    run_text_destroy(text);
    buf_release(&out);
}

TEST(names_the_cases_of_a_run_that_has_several)
{
    struct run_text *text = create(3);
    struct buf out;

    buf_init(&out, 1 << 20);
    take(text,
         "{\"time\":\"2026-01-31T10:00:01.000Z\",\"type\":\"case\",\"case\":1,"
         "\"attempt\":1,\"state\":\"failed\",\"reason\":\"node-2 was lost\"}",
         &out);
    assert_string_equal(out.data, "# case 1: failed: node-2 was lost\n");
    run_text_destroy(text);
    buf_release(&out);
}

TEST(tells_a_waiting_reader_what_goes_on)
{
    struct run_text *text = create(1);
    struct buf out;

    buf_init(&out, 1 << 20);
    run_text_alive(text, 0, &out);
    assert_string_equal(out.data, "# still queued\n");
    buf_clear(&out);
    take(text,
         "{\"time\":\"1970-01-01T00:00:10.000Z\",\"type\":\"state\","
         "\"state\":\"rendezvous\"}",
         &out);
    buf_clear(&out);
    run_text_alive(text, 25000, &out);
    assert_string_equal(out.data, "# 0 of 0 rows after 15 s\n");
    run_text_destroy(text);
    buf_release(&out);
}

TEST(says_what_a_rank_took_at_most)
{
    static const char *const events[] = {
        "{'type':'placed','backend':'nccl','world_size':2,'nodes':[{'name':'a'}]}",
        "{'type':'ranks','ranks':[0,1],'state':'connected','each':["
        "{'rank':0,'init_s':0.25,'gpu_memory':{'init_bytes':1048576}},"
        "{'rank':1,'init_s':0.5,'gpu_memory':{'init_bytes':2097152}}]}",
        "{'type':'ranks','ranks':[1],'state':'done','each':[{'rank':1,'gpu_memory':"
        "{'init_bytes':2097152,'buffer_bytes':4096,'end_bytes':3145728}}]}",
        "{'type':'ranks','ranks':[0],'state':'done','each':[{'rank':0,'gpu_memory':"
        "{'init_bytes':1048576,'buffer_bytes':8192,'end_bytes':1048576}}]}",
        "{'type':'case','case':0,'attempt':1,'state':'completed'}",
    };
    struct run_text *text = create(1);
    struct buf out;

    buf_init(&out, 1 << 16);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        char line[512];
        snprintf(line, sizeof(line), "%s", events[i]);
        for (char *p = line; *p; p++)
            *p = *p == '\'' ? '"' : *p;
        take(text, line, &out);
    }
    assert_non_null(strstr(
        out.data, "# maximum over ranks: communicator formed in 0.500 s; GPU memory: 2.0 "
                  "MiB for the communicator, 8.0 KiB for buffers, 3.0 MiB at the end\n"));
    run_text_destroy(text);
    buf_release(&out);
}

/* Whether a run on three nodes whose verdict is this offers a follow-up. */
static bool offers_follow_up(const char *verdict)
{
    json_t *run = json_pack("{s:s, s:{s:s, s:[s]}}", "id", "r", "spec", "pattern", "all",
                            "collectives", "all_reduce");
    struct run_text *text = run_text_create(run, "http://h", "curl -X POST URL");
    char end[300];
    struct buf out;
    bool is_there;

    buf_init(&out, 1 << 20);
    take(text, TIME "\"placed\",\"world_size\":3,\"nodes\":[{},{},{}]}", &out);
    snprintf(end, sizeof(end),
             TIME "\"state\",\"state\":\"completed\",\"verdicts\":[%s]}", verdict);
    take(text, end, &out);
    run_text_end(text, &out);
    is_there =
        strstr(out.data, "# find the slow node: curl -X POST URL/follow_up") != NULL;
    run_text_destroy(text);
    buf_release(&out);
    json_decref(run);
    return is_there;
}

TEST(offers_a_follow_up_only_where_something_is_slow)
{
    assert_true(offers_follow_up("{\"kind\":\"lateness\",\"answer\":\"late_rank\"}"));
    assert_false(offers_follow_up("{\"kind\":\"lateness\",\"answer\":\"none\"}"));
    assert_false(offers_follow_up(""));
}

TEST(says_how_the_loop_is_shaped)
{
    json_t *run = json_pack("{s:s, s:{s:i, s:i, s:i, s:b, s:{s:i, s:s}}}", "id", "r",
                            "spec", "cycles", 3, "blocking", 0, "unalign", 1, "per_iter",
                            1, "nccl", "graph", 5, "registration", "local");
    struct run_text *text = run_text_create(run, "http://h", NULL);
    struct buf out;

    buf_init(&out, 4096);
    run_text_begin(text, &out);
    assert_string_equal(out.data,
                        "# run r  http://h\n"
                        "# cycles 3, unalign 1, per_iter on, graph 5, registration "
                        "local\n");
    run_text_destroy(text);
    buf_release(&out);
    json_decref(run);
}

#define EDIT                                                                             \
    TIME "\"edit\",\"by\":\"ann\",\"peer\":\"10.0.0.7\","                                \
         "\"before\":{\"labels\":{\"gpu\":\"a100\",\"team\":\"x\",\"new\":null},"        \
         "\"notes\":\"\"},\"after\":{\"labels\":{\"gpu\":\"h100\",\"team\":null,"        \
         "\"new\":\"y\"},\"notes\":\"one\\ntwo\"}}"

/* The last line stays the last. */
TEST(tells_edits_also_behind_the_end)
{
    struct run_text *text = create(1);
    struct buf out;

    buf_init(&out, 1 << 20);
    take(text, TIME "\"state\",\"state\":\"failed\",\"reason\":\"why\"}", &out);
    take(text, EDIT, &out);
    run_text_end(text, &out);
    assert_string_equal(out.data,
                        "# edited by ann from 10.0.0.7; label gpu=h100 (was a100); label "
                        "team removed (was x); label new=y; notes=one\n#   two\n"
                        "failed: why\n");
    run_text_destroy(text);
    buf_release(&out);
}

TEST(begins_with_labels_and_notes)
{
    json_t *run = json_pack("{s:s, s:{}, s:{s:s, s:s}, s:s}", "id", "r", "spec", "labels",
                            "a", "b", "c", "d", "notes", "one\ntwo\033");
    struct run_text *text = run_text_create(run, "http://h", NULL);
    struct buf out;

    buf_init(&out, 4096);
    run_text_begin(text, &out);
    assert_string_equal(out.data, "# run r  http://h\n# labels: a=b, c=d\n"
                                  "# notes:\n# one\n#   two\\u001b\n");
    run_text_destroy(text);
    buf_release(&out);
    json_decref(run);
}
