/* choice_code.c - how NCCL did a row's calls as a number */
#include "server/summary/choice_code.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/json_util.h"

/* From the lowest bit on: algorithm, protocol, who said so, channels (NCCL has 64
 * at most), not requested, ranks differ. */
enum {
    ALGO_BITS = 5,
    PROTO_BITS = 5,
    BY_BITS = 3,
    CHANNEL_BITS = 9,
    PROTO_AT = ALGO_BITS,
    BY_AT = PROTO_AT + PROTO_BITS,
    CHANNELS_AT = BY_AT + BY_BITS,
    UNREQUESTED_AT = CHANNELS_AT + CHANNEL_BITS,
    DIFFER_AT
};

_Static_assert(DIFFER_AT < CHOICE_CODE_BITS, "a bit for those that differ");

#define OTHER "other"

/* A name's number is its place; 0 is none. */
static const char *const algorithms[1 << ALGO_BITS] = {NULL,
                                                       OTHER,
                                                       "P2P",
                                                       "TREE",
                                                       "RING",
                                                       "COLLNET_DIRECT",
                                                       "COLLNET_CHAIN",
                                                       "NVLS",
                                                       "NVLS_TREE",
                                                       "PAT",
                                                       "SYMMETRIC",
                                                       "COPY_ENGINE"};

/* Behind the three of all algorithms those of symmetric kernels. */
static const char *const protocols[1 << PROTO_BITS] = {
    NULL,        OTHER,         "LL",
    "LL128",     "SIMPLE",      "AGxLL_R",
    "AGxLLMC_R", "RSxLD_AGxST", "RSxLDMC_AGxSTMC",
    "LLMC",      "ST",          "STMC",
    "LD",        "LDMC"};

static const char *const sources[1 << BY_BITS] = {NULL,  OTHER,   "profiler",
                                                  "log", "table", "model"};

static uint32_t number_of(const json_t *choice, const char *member,
                          const char *const *names, size_t n)
{
    const char *name = json_get_str(choice, member, NULL);

    if (!name || !*name)
        return 0;
    for (uint32_t i = 2; i < n && names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return 1;
}

uint32_t choice_code(const json_t *choice)
{
    uint32_t algo = number_of(choice, "algo", algorithms, 1 << ALGO_BITS);
    uint32_t proto = number_of(choice, "proto", protocols, 1 << PROTO_BITS);
    uint32_t by = number_of(choice, "by", sources, 1 << BY_BITS);
    int64_t channels = json_get_int(choice, "channels", 0);
    bool differ = json_get_bool(choice, "ranks_differ", false);
    bool is_unrequested = json_get_bool(choice, "unrequested", false);

    if (algo == 0)
        return 0;
    if (channels < 0 || channels >= 1 << CHANNEL_BITS)
        channels = 0;
    return algo | proto << PROTO_AT | by << BY_AT | (uint32_t)channels << CHANNELS_AT |
           (uint32_t)is_unrequested << UNREQUESTED_AT | (uint32_t)differ << DIFFER_AT;
}

bool choice_code_is_unrequested(uint32_t code)
{
    return code >> UNREQUESTED_AT & 1;
}

static void set_name(json_t *out, const char *member, const char *name)
{
    if (name)
        json_object_set_new(out, member, json_string(name));
}

json_t *choice_code_json(uint32_t code)
{
    uint32_t channels = code >> CHANNELS_AT & ((1 << CHANNEL_BITS) - 1);
    json_t *out = json_object();

    set_name(out, "algo", algorithms[code & ((1 << ALGO_BITS) - 1)]);
    set_name(out, "proto", protocols[code >> PROTO_AT & ((1 << PROTO_BITS) - 1)]);
    if (channels > 0)
        json_object_set_new(out, "channels", json_integer(channels));
    set_name(out, "by", sources[code >> BY_AT & ((1 << BY_BITS) - 1)]);
    if (code >> DIFFER_AT & 1)
        json_object_set_new(out, "ranks_differ", json_true());
    if (choice_code_is_unrequested(code))
        json_object_set_new(out, "unrequested", json_true());
    return out;
}
