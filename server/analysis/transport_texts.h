/* transport_texts.h - what many processes say alike, once, and as a number */
#ifndef RINGBENCH_SERVER_ANALYSIS_TRANSPORT_TEXTS_H
#define RINGBENCH_SERVER_ANALYSIS_TRANSPORT_TEXTS_H

#include <jansson.h>
#include <stddef.h>

#define TRANSPORT_NONE (-1)

/* Texts that differ, numbered from 0 as they came. Zeroed it is empty. */
struct transport_texts {
    json_t *places;
    const char **at;
    size_t n, capacity;
};

/* The number of a text, which is copied if it is new. */
int transport_text_of(struct transport_texts *texts, const char *text);
void transport_texts_release(struct transport_texts *texts);

/* Values that differ, likewise, 1,024 at most: of more TRANSPORT_NONE. */
struct transport_values {
    struct transport_texts texts;
    json_t *all;
};

int transport_value_of(struct transport_values *values, json_t *value);
void transport_values_release(struct transport_values *values);

#endif
