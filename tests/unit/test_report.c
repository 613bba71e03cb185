/* test_report.c - a run as one page */
#include "golden_file.h"

#include "common/json_util.h"
#include "server/report/report.h"

#define AT 1769904000000 /* 2026-02-01T00:00:00Z */

static json_t *parse(const char *text)
{
    struct error err;
    json_t *value = json_parse(text, strlen(text), &err);

    if (!value)
        fail_msg("%s: %s", err.text, text);
    return value;
}

static const char run_text[] =
    "{\"id\":\"06cw1x2k3m4n\",\"name\":\"<script>alert(1)</"
    "script>\",\"labels\":{\"a\":\"'\"},"
    "\"state\":\"failed\",\"reason\":\"1 of 1 cases & more\",\"created\":"
    "\"2026-01-31T10:00:00.000Z\",\"started\":\"2026-01-31T10:00:00.500Z\",\"ended\":"
    "\"2026-01-31T10:01:02.500Z\",\"backend\":\"host\",\"world_size\":2,\"collectives\":"
    "[\"all_reduce\"],\"nodes\":[{\"name\":\"n-1\",\"ranks\":1},{\"name\":\"gone\","
    "\"ranks\":1}],"
    "\"spec\":{\"env\":{\"NCCL_DEBUG\":\"INFO\"},\"sizes\":[8,16]},"
    "\"cases\":[{\"case\":0,\"repeat\":0,\"attempt\":1,\"state\":\"failed\",\"reason\":"
    "\"wrong\","
    "\"env\":{\"X\":\"1\",\"Y\":null},\"started\":\"2026-01-31T10:00:00.600Z\",\"ended\":"
    "null,"
    "\"ranks\":[{\"rank\":0,\"node\":\"n-1\",\"state\":\"done\"},{\"rank\":1,\"node\":"
    "\"gone\","
    "\"state\":\"failed\",\"reason\":\"killed by <9>\"}]}],"
    "\"rows_done\":3,\"rows_total\":4,\"summary\":{\"headline\":{\"size\":16,\"busbw_"
    "gbs\":0.2},\"wrong\":2,"
    "\"skipped\":1}}";

static const char nodes_text[] =
    "[{\"name\":\"n-1\",\"address\":\"10.0.0.1\",\"registered\":\"2026-02-01T00:00:00."
    "000Z\","
    "\"version\":\"0.1.0\",\"inventory\":{\"host\":\"h<1>\",\"os\":\"Debian\",\"kernel\":"
    "\"6.1\","
    "\"cpu\":{\"model\":\"CPU\",\"cores\":4},\"memory_bytes\":8589934592}}]";

static const char events_text[] =
    "{\"id\":1,\"time\":\"t\",\"type\":\"state\",\"state\":\"queued\"}\n"
    "{\"id\":2,\"time\":\"t\",\"type\":\"rank\",\"case\":0,\"rank\":0,\"state\":"
    "\"connected\","
    "\"transport\":{\"1\":\"tcp\"}}\n"
    "{\"id\":3,\"time\":\"t\",\"type\":\"result\",\"case\":0,\"attempt\":1,\"row\":0,"
    "\"series\":0,"
    "\"collective\":\"all_reduce\",\"dtype\":\"float32\",\"redop\":\"sum\",\"root\":-1,"
    "\"in_place\":false,\"size\":8,\"count\":2,\"iters\":20,\"time_us\":10.5,\"time_min_"
    "us\":10,"
    "\"time_max_us\":11,\"algbw_gbs\":0.1,\"busbw_gbs\":0.1,\"first_us\":100,\"times_"
    "us\":"
    "[10,11],\"wrong\":2,\"errors\":[{\"rank\":1,\"index\":5,\"expected\":\"<3>\","
    "\"got\":\"4\"}],"
    "\"cycle\":7}\n"
    "{\"id\":4,\"time\":\"t\",\"type\":\"result\",\"case\":0,\"attempt\":1,\"row\":1,"
    "\"series\":0,"
    "\"collective\":\"all_reduce\",\"dtype\":\"float32\",\"redop\":\"sum\",\"root\":-1,"
    "\"in_place\":false,\"size\":16,\"count\":4,\"iters\":20,\"time_us\":20,\"time_min_"
    "us\":20,"
    "\"time_max_us\":20,\"algbw_gbs\":0.2,\"busbw_gbs\":0.2,\"first_us\":100,\"wrong\":"
    "null}\n"
    "{\"id\":5,\"time\":\"t\",\"type\":\"result\",\"case\":0,\"attempt\":1,\"row\":2,"
    "\"series\":1,"
    "\"collective\":\"all_reduce\",\"dtype\":\"float32\",\"redop\":\"sum\",\"root\":-1,"
    "\"in_place\":true,\"size\":16,\"count\":4,\"skipped\":\"too <large>\"}\n"
    "{\"id\":6,\"time\":\"t\",\"type\":\"message\",\"level\":\"error\",\"text\":\"it & "
    "broke\","
    "\"case\":0,\"rank\":1,\"node\":\"gone\"}\n";

static struct facts *facts_of(const char *run, const char *nodes, const char *events)
{
    struct facts *facts =
        facts_create(parse(run), parse(nodes), "http://head/runs/1", AT);

    assert_non_null(facts);
    assert_int_equal(facts_add_events(facts, events, strlen(events)), 0);
    return facts;
}

static char *page_of(struct facts *facts)
{
    struct buf out;

    assert_int_equal(report_write(facts, &out), 0);
    facts_destroy(facts);
    return buf_detach(&out, NULL);
}

/* The page without its style, which would make each change of a colour a difference. */
static void drop_style(char *page)
{
    char *begin = strstr(page, "<style>"), *end = strstr(page, "</style>");
    char *hash = strstr(page, "sha256-");

    assert_non_null(begin);
    assert_non_null(end);
    assert_non_null(hash);
    memmove(begin + 7, end, strlen(end) + 1);
    memset(hash + 7, 'x', strcspn(hash + 7, "="));
}

static void writes_the_whole_page(void **state)
{
    char *page = page_of(facts_of(run_text, nodes_text, events_text));

    (void)state;
    drop_style(page);
    golden_compare("report/page.html", page);
    free(page);
}

static json_t *data_of(const char *page)
{
    static const char tag[] = "id=\"ringbench-data\">";
    const char *begin = strstr(page, tag), *end;

    assert_non_null(begin);
    begin += strlen(tag);
    end = strstr(begin, "</script>");
    assert_non_null(end);
    return json_parse(begin, (size_t)(end - begin), NULL);
}

static void holds_its_data_for_programs(void **state)
{
    char *page = page_of(facts_of(run_text, nodes_text, events_text));
    json_t *data = data_of(page), *run = parse(run_text), *nodes = parse(nodes_text);
    json_t *row = json_array_get(json_object_get(data, "rows"), 0);

    (void)state;
    assert_true(json_equal(json_object_get(data, "run"), run));
    assert_true(json_equal(json_object_get(data, "nodes"), nodes));
    assert_int_equal(json_array_size(json_object_get(data, "rows")), 3);
    assert_int_equal(json_get_int(row, "cycle", 0), 7);
    assert_int_equal(json_array_size(json_object_get(row, "times_us")), 2);
    assert_null(json_object_get(row, "type"));
    assert_string_equal(json_get_str(data, "generated", ""), "2026-02-01T00:00:00.000Z");
    json_decref(data);
    json_decref(run);
    json_decref(nodes);
    free(page);
}

static void hostile_text_stays_text(void **state)
{
    static const char evil[] =
        "</script></style><img src=x onerror=alert(1)>\\\"'\\u202e";
    char run[4096], events[8192], *page;

    (void)state;
    snprintf(run, sizeof(run),
             "{\"id\":\"%s\",\"name\":\"%s\",\"state\":\"%s\",\"reason\":\"%s\","
             "\"labels\":{\"%s\":"
             "\"%s\"},\"nodes\":[{\"name\":\"%s\"}],\"spec\":{\"env\":{\"%s\":\"%s\"}},"
             "\"cases\":"
             "[{\"env\":{\"%s\":\"%s\"},\"state\":\"%s\"},{\"env\":{\"%s\":null}}]}",
             evil, evil, evil, evil, evil, evil, evil, evil, evil, evil, evil, evil,
             evil);
    snprintf(
        events, sizeof(events),
        "{\"type\":\"result\",\"collective\":\"%s\",\"dtype\":\"%s\",\"redop\":\"%s\","
        "\"group\":\"%s\",\"size\":8,\"time_us\":1,\"busbw_gbs\":1,\"wrong\":1,\"%s\":\"%"
        "s\","
        "\"errors\":[{\"expected\":\"%s\",\"got\":\"%s\"}]}\n"
        "{\"type\":\"result\",\"metric\":\"%s\",\"unit\":\"%s\",\"value\":1,\"labels\":{"
        "\"%s\":"
        "\"%s\"}}\n"
        "{\"type\":\"result\",\"collective\":\"%s\",\"size\":8,\"skipped\":\"%s\"}\n"
        "{\"type\":\"rank\",\"transport\":\"%s\"}\n"
        "{\"type\":\"message\",\"level\":\"%s\",\"text\":\"%s\",\"node\":\"%s\"}\n",
        evil, evil, evil, evil, evil, evil, evil, evil, evil, evil, evil, evil, evil,
        evil, evil, evil, evil, evil);
    page = page_of(facts_of(run, "[]", events));
    assert_null(strstr(page, "<img"));
    /* What is shown; the data keeps all characters. */
    assert_true(strstr(page, "\xe2\x80\xae") > strstr(page, "id=\"ringbench-data\""));
    assert_non_null(strstr(page, "&lt;img src=x onerror=alert(1)&gt;&quot;&#39;"));
    /* Its own: one data block, one style. */
    assert_ptr_equal(strstr(page, "</script>"), strrchr(page, '\0') - 26);
    assert_null(strstr(strstr(page, "</style>") + 1, "</style>"));
    free(page);
}

static void says_simulated_everywhere(void **state)
{
    static const char *const words[] = {"simulated", "emulated"};
    char events[400], want[80], *page;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        snprintf(
            events, sizeof(events),
            "{\"type\":\"result\",\"collective\":\"all_reduce\",\"size\":8,\"time_us\":1,"
            "\"busbw_gbs\":1,\"%s\":true}\n",
            words[i]);
        page = page_of(facts_of("{\"id\":\"x\"}", "[]", events));
        snprintf(want, sizeof(want), "<title>[%s] x", words[i]);
        assert_non_null(strstr(page, want));
        snprintf(want, sizeof(want), "<strong>%s</strong> These are no meas", words[i]);
        assert_non_null(strstr(page, want));
        snprintf(want, sizeof(want), "rotate(-18 302 163)\">%s</text>", words[i]);
        assert_non_null(strstr(page, want));
        snprintf(want, sizeof(want), ", %s: no measurements</th>", words[i]);
        assert_non_null(strstr(page, want));
        free(page);
    }
}

static void says_what_it_leaves_out(void **state)
{
    static const char row[] =
        "{\"type\":\"result\",\"collective\":\"all_reduce\",\"size\":8,"
        "\"time_us\":1,\"busbw_gbs\":1}\n";
    struct facts *facts = facts_create(parse("{\"id\":\"x\",\"rows_done\":1000000}"),
                                       json_array(), NULL, AT);
    char *page;

    (void)state;
    for (size_t i = 0; i < FACTS_ROWS_MAX + 5; i++) {
        assert_int_equal(facts_is_full(facts), i >= FACTS_ROWS_MAX);
        assert_int_equal(facts_add_events(facts, row, strlen(row)), 0);
    }
    assert_int_equal(facts_rows_left_out(facts), 990000);
    page = page_of(facts);
    assert_non_null(strstr(page, "The first 10000 rows of 1000000: 990000 are left out"));
    free(page);
}

static void keeps_the_last_messages(void **state)
{
    struct facts *facts = facts_create(parse("{}"), json_array(), NULL, AT);
    char line[80];

    (void)state;
    for (size_t i = 0; i < FACTS_MESSAGES_MAX + 3; i++) {
        snprintf(line, sizeof(line), "{\"type\":\"message\",\"text\":\"%zu\"}", i);
        assert_int_equal(facts_add_events(facts, line, strlen(line)), 0);
    }
    assert_int_equal(facts->messages_left_out, 3);
    assert_string_equal(json_get_str(json_array_get(facts->messages, 0), "text", ""),
                        "3");
    facts_destroy(facts);
}

/* Each rank may name all others: of very many, the first ones are kept. */
static void keeps_the_first_connections(void **state)
{
    struct facts *facts = facts_of(run_text, nodes_text, events_text);
    size_t peers = FACTS_LINKS_MAX / 2;
    json_t *event = json_pack("{s:s, s:{}}", "type", "rank", "transport");
    char *line, name[24];

    (void)state;
    for (size_t i = 0; i < peers; i++) {
        snprintf(name, sizeof(name), "%zu", i);
        json_object_set_new(json_object_get(event, "transport"), name,
                            json_string("tcp"));
    }
    line = json_dumps(event, JSON_COMPACT);
    for (int i = 0; i < 4; i++)
        assert_int_equal(facts_add_events(facts, line, strlen(line)), 0);
    assert_int_equal(json_array_size(facts->connected), 2);
    assert_int_equal(facts->connected_left_out, 3);
    free(line);
    json_decref(event);
    facts_destroy(facts);
}

static void refuses_what_is_no_event(void **state)
{
    struct facts *facts = facts_create(parse("{}"), json_array(), NULL, AT);

    (void)state;
    assert_int_equal(facts_add_events(facts, "{", 1), -1);
    facts_destroy(facts);
    assert_null(facts_create(NULL, json_array(), NULL, AT));
    assert_null(facts_create(json_object(), NULL, "x", AT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_the_whole_page),
        cmocka_unit_test(holds_its_data_for_programs),
        cmocka_unit_test(hostile_text_stays_text),
        cmocka_unit_test(says_simulated_everywhere),
        cmocka_unit_test(says_what_it_leaves_out),
        cmocka_unit_test(keeps_the_last_messages),
        cmocka_unit_test(keeps_the_first_connections),
        cmocka_unit_test(refuses_what_is_no_event),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
