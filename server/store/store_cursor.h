/* store_cursor.h - where the next page of a list begins: behind the last row's time and
 * id */
#ifndef RINGBENCH_SERVER_STORE_STORE_CURSOR_H
#define RINGBENCH_SERVER_STORE_STORE_CURSOR_H

#include <stdint.h>

#define STORE_CURSOR_ID_MAX 64
#define STORE_CURSOR_TEXT_MAX 128

/* Write the cursor; -1 when id is too long. */
int store_cursor_format(int64_t created_ms, const char *id,
                        char text[STORE_CURSOR_TEXT_MAX]);

/* Read a cursor; -1 when it is not one of ours. id: STORE_CURSOR_ID_MAX + 1 bytes. */
int store_cursor_parse(const char *text, int64_t *created_ms, char *id);

#endif
