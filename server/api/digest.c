/* digest.c - SHA-256 of a JSON value's canonical text */
#include "server/api/digest.h"

#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGEST_BYTES 32

int digest_json(const json_t *value, char out[DIGEST_TEXT_SIZE])
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    unsigned char bytes[DIGEST_BYTES];
    int rc;

    if (!text)
        return -1;
    rc = gnutls_hash_fast(GNUTLS_DIG_SHA256, text, strlen(text), bytes);
    free(text);
    if (rc < 0)
        return -1;
    for (size_t i = 0; i < DIGEST_BYTES; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}
