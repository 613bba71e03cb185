/* byte_queue.h - bytes in, bytes out, in order; memory follows the content */
#ifndef RINGBENCH_SERVER_HTTP_BYTE_QUEUE_H
#define RINGBENCH_SERVER_HTTP_BYTE_QUEUE_H

#include <stddef.h>

struct byte_block;

struct byte_queue {
    struct byte_block *head, *tail;
    size_t len;
};

void byte_queue_init(struct byte_queue *queue);
void byte_queue_release(struct byte_queue *queue);

/* Append a copy; -1 (and nothing changed) when memory is out. */
int byte_queue_push(struct byte_queue *queue, const void *data, size_t len);

/* Move up to `max` bytes out; returns how many. */
size_t byte_queue_pop(struct byte_queue *queue, void *out, size_t max);

#endif
