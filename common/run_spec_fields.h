/* run_spec_fields.h - what the parts of the run spec's parser share */
#ifndef RINGBENCH_COMMON_RUN_SPEC_FIELDS_H
#define RINGBENCH_COMMON_RUN_SPEC_FIELDS_H

#include "common/run_spec.h"

/* A field's parser: sets the field, or adds what is wrong to *problems. */
typedef void field_parser(struct run_spec *spec, json_t *value, const char *pointer,
                          struct problems *problems);

field_parser run_spec_parse_sizes, run_spec_parse_nodes, run_spec_parse_nccl;
field_parser run_spec_parse_split, run_spec_parse_traffic, run_spec_parse_devices,
    run_spec_parse_nccl_lib;

/* What these must agree on with the other fields. */
void run_spec_check_ranks(const struct run_spec *spec, struct problems *problems);
field_parser run_spec_parse_control;

field_parser run_spec_parse_per_iter;

/* What of it does not go together. */
void run_spec_check_nccl(const struct run_spec *spec, struct problems *problems);

/* sizes = min, min * factor, ... up to max. */
void run_spec_expand_factor(struct run_spec *spec, uint64_t min, uint64_t max,
                            uint64_t factor);

/* "an object", "a string", ... for messages. */
const char *spec_type_name(const json_t *value);

/* Set *out from a value of the right type and range, or add a problem. */
void spec_parse_integer(const json_t *value, long min, long max, long *out,
                        const char *pointer, struct problems *problems);
void spec_parse_string(const json_t *value, size_t max, char **out, const char *pointer,
                       struct problems *problems);
/* Whether the text may be a name, a label or the like; else add a problem that names the
 * character which may not (clean_text_fault). */
bool spec_check_name(const char *text, const char *pointer, struct problems *problems);
/* A size, a string with a suffix or an integer. 0 after adding a problem. */
uint64_t spec_parse_size(json_t *value, const char *pointer, struct problems *problems);
void spec_parse_labels(json_t **out, json_t *value, const char *pointer,
                       struct problems *problems);

/* Add a problem unless it is text that a variable can hold. */
void spec_check_env_value(const json_t *value, const char *pointer,
                          struct problems *problems);

/* "POINTER/KEY" with the key escaped by RFC 6901, cut to size. */
void spec_child_pointer(char *out, size_t size, const char *pointer, const char *key);

#endif
