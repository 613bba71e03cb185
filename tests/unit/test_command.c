/* SPDX-License-Identifier: Apache-2.0 */
/* test_command.c - what the server tells the agent to do */
#include "agent/link/command.h"
#include "common/base/json_util.h"
#include "tests/unit/test.h"

static const char start[] =
    "{\"seq\":3,\"type\":\"start\",\"run\":\"0abc\",\"case\":2,\"attempt\":1,"
    "\"backend\":\"host\",\"master_addr\":\"10.0.0.1\",\"master_port\":4000,"
    "\"world_size\":4,\"group_rank\":1,\"group_world_size\":2,"
    "\"ranks\":[{\"rank\":2,\"local_rank\":0},{\"rank\":3,\"local_rank\":1}],"
    "\"env\":{\"NCCL_DEBUG\":\"INFO\",\"NCCL_ALGO\":null},\"spec\":{\"sizes\":[8]}}";

static json_t *start_with(const char *key, const char *value)
{
    json_t *object = json_parse(start, strlen(start), NULL);

    assert_non_null(object);
    if (key && !value)
        json_object_del(object, key);
    else if (key)
        json_object_set_new(object, key, json_loads(value, JSON_DECODE_ANY, NULL));
    return object;
}

TEST(reads_a_start)
{
    json_t *object = start_with(NULL, NULL);
    struct command command;

    assert_int_equal(command_parse(object, &command, NULL), 0);
    assert_int_equal(command.fault.code, ERROR_NONE);
    assert_int_equal(command.type, COMMAND_START);
    assert_int_equal(command.seq, 3);
    assert_string_equal(command.id.run, "0abc");
    assert_int_equal(command.id.number, 2);
    assert_string_equal(command.backend, "host");
    assert_int_equal(command.n_ranks, 2);
    assert_int_equal(command.ranks[1].rank, 3);
    assert_int_equal(command.ranks[1].local_rank, 1);
    assert_int_equal(json_object_size(command.env), 2);
    command_release(&command);
    json_decref(object);
}

TEST(reads_stop_and_leave)
{
    static const char stop[] = "{\"seq\":1,\"type\":\"stop\",\"run\":\"r\",\"case\":0,"
                               "\"attempt\":0,\"reason\":\"why\"}";
    static const char leave[] = "{\"seq\":2,\"type\":\"leave\"}";
    json_t *object = json_parse(stop, strlen(stop), NULL);
    struct command command;

    assert_int_equal(command_parse(object, &command, NULL), 0);
    assert_int_equal(command.type, COMMAND_STOP);
    assert_string_equal(command.reason, "why");
    json_decref(object);
    object = json_parse(leave, strlen(leave), NULL);
    assert_int_equal(command_parse(object, &command, NULL), 0);
    assert_int_equal(command.type, COMMAND_LEAVE);
    assert_string_equal(command.reason, "");
    json_decref(object);
}

struct change {
    const char *key, *value; /* value NULL: the key is removed */
    const char *error;
};

/* Can't be answered: the command as a whole is refused. */
static const struct change hopeless[] = {
    {"seq", NULL, "seq"},
    {"seq", "0", "seq"},
    {"type", NULL, "type"},
    {"type", "\"dance\"", "dance"},
    {"run", "\"../../etc/passwd\"", "run"},
    {"run", "\"\"", "run"},
    {"run", "\".hidden\"", "run"},
    {"run", "17", "run"},
    {"case", NULL, "case"},
    {"case", "-1", "case"},
    {"attempt", "\"1\"", "attempt"},
};

/* The case is known, so that its server is told why it can't start. */
static const struct change faults[] = {
    {"backend", NULL, "backend"},
    {"backend", "\"../sh\"", "backend"},
    {"master_addr", NULL, "master_addr"},
    {"master_port", "65536", "master_port"},
    {"world_size", "0", "world_size"},
    {"group_rank", "-1", "group_rank"},
    {"group_world_size", NULL, "group_world_size"},
    {"ranks", NULL, "0 ranks"},
    {"ranks", "[]", "0 ranks"},
    {"ranks", "[1]", "'rank'"},
    {"ranks", "[{\"rank\":4,\"local_rank\":0}]", "'rank' is missing or not in 0 to 3"},
    {"ranks", "[{\"rank\":1}]", "local_rank"},
    {"ranks", "[{\"rank\":1,\"local_rank\":0},{\"rank\":1,\"local_rank\":1}]", "twice"},
    {"env", "[]", "env"},
    {"env", "{\"A\":1}", "A is not a string"},
    {"spec", NULL, "spec"},
    {"spec", "[]", "spec"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

TEST(refuses_what_it_can_not_answer)
{
    for (size_t i = 0; i < COUNT(hopeless); i++) {
        json_t *object = start_with(hopeless[i].key, hopeless[i].value);
        struct command command;
        struct error err;

        assert_int_equal(command_parse(object, &command, &err), -1);
        assert_non_null(strstr(err.text, hopeless[i].error));
        json_decref(object);
    }
}

TEST(says_why_a_start_is_impossible)
{
    for (size_t i = 0; i < COUNT(faults); i++) {
        json_t *object = start_with(faults[i].key, faults[i].value);
        struct command command;

        assert_int_equal(command_parse(object, &command, NULL), 0);
        assert_int_not_equal(command.fault.code, ERROR_NONE);
        if (!strstr(command.fault.text, faults[i].error))
            fail_msg("'%s' does not say '%s'", command.fault.text, faults[i].error);
        command_release(&command);
        json_decref(object);
    }
}

TEST(refuses_what_is_no_object)
{
    json_t *array = json_array();
    struct command command;

    assert_int_equal(command_parse(array, &command, NULL), -1);
    assert_int_equal(command_parse(NULL, &command, NULL), -1);
    json_decref(array);
}
