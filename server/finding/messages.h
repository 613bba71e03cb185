/* SPDX-License-Identifier: Apache-2.0 */
/* messages.h - declares all verdict sentences, one row each in messages.inc
 *
 * A template (template.h) refers to members of the verdict's evidence. Members that begin
 * with '$' are available only to the sentence. */
#ifndef RINGBENCH_SERVER_FINDING_MESSAGES_H
#define RINGBENCH_SERVER_FINDING_MESSAGES_H

#include "server/finding/verdict.h"

enum message_id {
#define MESSAGE(id, kind, answer, text) MESSAGE_##id,
#include "server/finding/messages.inc"
#undef MESSAGE
    MESSAGES
};

struct message {
    enum verdict_kind kind;
    enum verdict_answer answer;
    const char *text;
};

extern const struct message messages[MESSAGES];

#endif
