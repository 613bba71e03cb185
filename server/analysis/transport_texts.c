/* transport_texts.c - what many processes say alike, once */
#include "server/analysis/transport_texts.h"

#include <stdlib.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"

#define VALUES_MAX 1024

int transport_text_of(struct transport_texts *texts, const char *text)
{
    int64_t place = json_get_int(texts->places, text, -1);

    if (place >= 0)
        return (int)place;
    if (!texts->places)
        texts->places = json_object();
    texts->at = memory_grown(texts->at, texts->n, &texts->capacity, sizeof(*texts->at),
                             "what processes say");
    /* Cut texts may end within a character. */
    if (json_object_set_new_nocheck(texts->places, text,
                                    json_integer((json_int_t)texts->n)))
        memory_out("what processes say");
    texts->at[texts->n] = json_object_iter_key(json_object_iter_at(texts->places, text));
    return (int)texts->n++;
}

void transport_texts_release(struct transport_texts *texts)
{
    json_decref(texts->places);
    free(texts->at);
}

int transport_value_of(struct transport_values *values, json_t *value)
{
    struct transport_texts *texts = &values->texts;
    char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);
    int place = TRANSPORT_NONE;

    if (!values->all)
        values->all = json_array();
    if (text && (texts->n < VALUES_MAX || json_object_get(texts->places, text)))
        place = transport_text_of(texts, text);
    if (place != TRANSPORT_NONE && (size_t)place == json_array_size(values->all))
        json_array_append(values->all, value);
    free(text);
    return place;
}

void transport_values_release(struct transport_values *values)
{
    transport_texts_release(&values->texts);
    json_decref(values->all);
}
