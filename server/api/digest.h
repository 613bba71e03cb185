/* digest.h - SHA-256 of a JSON value's canonical text */
#ifndef RINGBENCH_SERVER_API_DIGEST_H
#define RINGBENCH_SERVER_API_DIGEST_H

#include <jansson.h>

#define DIGEST_TEXT_SIZE 65

/* Write 64 hexadecimal digits and a NUL. Values that differ only in white space or in the
 * order of members have the same digest. -1 when memory is out. */
int digest_json(const json_t *value, char out[DIGEST_TEXT_SIZE]);

#endif
