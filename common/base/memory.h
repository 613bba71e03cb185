/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - what a program does where it can't go on without memory */
#ifndef RINGBENCH_COMMON_BASE_MEMORY_H
#define RINGBENCH_COMMON_BASE_MEMORY_H

#include <stddef.h>

/* Log what memory was wanted for, and end the process. State is on disk, and the next
 * process goes on from it: better than an answer that is kept and says nothing. */
_Noreturn void memory_out(const char *what);

/* calloc() that does not fail; `what` as above. */
void *memory_zeroed(size_t count, size_t size, const char *what);

/* strdup() that does not fail; NULL for NULL. */
char *memory_text(const char *text, const char *what);

/* realloc() to n items that does not fail. */
void *memory_resized(void *items, size_t n, size_t size, const char *what);

/* Make room for one more in an array of n items (NULL, if n is 0), whose capacity
 * doubles. Returns the array. */
void *memory_grown(void *items, size_t n, size_t *capacity, size_t size,
                   const char *what);

#endif
