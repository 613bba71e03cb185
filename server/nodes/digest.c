/* SPDX-License-Identifier: Apache-2.0 */
/* digest.c - computes SHA-256 digests as text */
#include "server/nodes/digest.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

#define DIGEST_BYTES 32

void digest_text(const char *text, char out[DIGEST_TEXT_SIZE])
{
    unsigned char bytes[DIGEST_BYTES];

    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, text, strlen(text), bytes) < 0)
        memory_out("a digest");
    for (size_t i = 0; i < DIGEST_BYTES; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

void digest_json(const json_t *value, char out[DIGEST_TEXT_SIZE])
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

    if (!text)
        memory_out("a digest");
    digest_text(text, out);
    free(text);
}

bool digest_equal(const char a[DIGEST_TEXT_SIZE], const char b[DIGEST_TEXT_SIZE])
{
    return gnutls_memcmp(a, b, DIGEST_TEXT_SIZE) == 0;
}
