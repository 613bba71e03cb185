/* byte_queue.c - a list of blocks, so that taking from the front moves nothing */
#include "server/http/byte_queue.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 4000

struct byte_block {
    struct byte_block *next;
    size_t start, end;
    size_t capacity;
    char data[];
};

void byte_queue_init(struct byte_queue *queue)
{
    memset(queue, 0, sizeof(*queue));
}

void byte_queue_release(struct byte_queue *queue)
{
    while (queue->head) {
        struct byte_block *next = queue->head->next;

        free(queue->head);
        queue->head = next;
    }
    byte_queue_init(queue);
}

static struct byte_block *block_new(size_t least)
{
    size_t capacity = least > BLOCK_BYTES ? least : BLOCK_BYTES;
    struct byte_block *block = malloc(sizeof(*block) + capacity);

    if (block) {
        block->next = NULL;
        block->start = block->end = 0;
        block->capacity = capacity;
    }
    return block;
}

int byte_queue_push(struct byte_queue *queue, const void *data, size_t len)
{
    struct byte_block *tail = queue->tail;
    size_t room = tail ? tail->capacity - tail->end : 0;
    size_t first = len < room ? len : room;
    struct byte_block *block = NULL;

    if (len == 0)
        return 0;
    if (first < len) {
        block = block_new(len - first);
        if (!block)
            return -1;
    }
    if (first > 0) {
        memcpy(tail->data + tail->end, data, first);
        tail->end += first;
    }
    if (block) {
        memcpy(block->data, (const char *)data + first, len - first);
        block->end = len - first;
        if (tail)
            tail->next = block;
        else
            queue->head = block;
        queue->tail = block;
    }
    queue->len += len;
    return 0;
}

size_t byte_queue_pop(struct byte_queue *queue, void *out, size_t max)
{
    size_t done = 0;

    while (done < max && queue->head) {
        struct byte_block *block = queue->head;
        size_t n = block->end - block->start;

        if (n > max - done)
            n = max - done;
        memcpy((char *)out + done, block->data + block->start, n);
        block->start += n;
        done += n;
        if (block->start == block->end) {
            queue->head = block->next;
            if (!queue->head)
                queue->tail = NULL;
            free(block);
        }
    }
    queue->len -= done;
    return done;
}
