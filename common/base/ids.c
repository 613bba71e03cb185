/* SPDX-License-Identifier: Apache-2.0 */
/* ids.c - creates random identifiers and checks node names */
#include "common/base/ids.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/random.h>

#include "common/base/clock.h"

static void fill_random(void *out, size_t len)
{
    /* Once the entropy pool is ready, getrandom() always fills a request of up to 256
     * bytes. Without randomness, IDs would collide, so the program must not continue. */
    if (getrandom(out, len, 0) != (ssize_t)len)
        abort();
}

static void encode_base32(char *out, int digits, uint64_t value)
{
    static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";

    for (int i = digits - 1; i >= 0; i--) {
        out[i] = alphabet[value & 31];
        value >>= 5;
    }
}

void id_run(char *out)
{
    uint32_t noise;

    fill_random(&noise, sizeof(noise));
    encode_base32(out, 7, (uint64_t)(clock_wall_ms() / 1000));
    encode_base32(out + 7, 5, noise);
    out[ID_RUN_LENGTH] = '\0';
}

void id_uuid(char *out)
{
    uint8_t b[16];

    fill_random(b, sizeof(b));
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    snprintf(out, ID_UUID_LENGTH + 1,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
             b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
             b[13], b[14], b[15]);
}

bool id_is_node_name(const char *text)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789._-");

    return len > 0 && len <= ID_NODE_MAX && text[len] == '\0';
}
