/* choice_code.h - how NCCL did a row's calls (its field `nccl`) as a number
 *
 * So that a record of fixed size holds it. Numbers are stored: names are only added. */
#ifndef RINGBENCH_SERVER_SUMMARY_CHOICE_CODE_H
#define RINGBENCH_SERVER_SUMMARY_CHOICE_CODE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define CHOICE_CODE_BITS 24

/* 0: nothing is known, or NULL. Of names that are not in the tables, "other" stays. */
uint32_t choice_code(const json_t *choice);

/* The members "algo", "proto", "channels", "by", "ranks_differ", "unrequested", as far
 * as there are, in a new object. */
json_t *choice_code_json(uint32_t code);

/* Whether the variables asked for another algorithm or protocol. */
bool choice_code_is_unrequested(uint32_t code);

#endif
