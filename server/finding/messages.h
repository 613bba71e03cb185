/* messages.h - all sentences of verdicts, one row each. A template (template.h) names
 * members of the verdict's evidence; those that begin with '$' are in the sentence only.
 */
#ifndef RINGBENCH_SERVER_FINDING_MESSAGES_H
#define RINGBENCH_SERVER_FINDING_MESSAGES_H

#include "server/finding/verdict.h"

enum message_id {
    MESSAGE_RANK_LATE,
    MESSAGE_TRANSFER_SLOW,
    MESSAGE_CALLS_SLOW,
    MESSAGE_NO_RANK_LATE,
    MESSAGE_LATE_FEW_ROWS,
    MESSAGE_RANK_LAGS,
    MESSAGE_RANKS_ALIKE,
    MESSAGE_NO_PLACES,
    MESSAGE_PREFLIGHT_FINDING,
    MESSAGE_PREFLIGHT_OK,
    MESSAGE_PREFLIGHT_NOT_EVALUATED,
    MESSAGE_NODE_SLOW,
    MESSAGE_LINK_SLOW,
    MESSAGE_RACK_SLOW,
    MESSAGE_SUSPECT_OPEN,
    MESSAGE_SLOW_TOGETHER,
    MESSAGE_SLOW_UNEXPLAINED,
    MESSAGE_FLEET_BLURRED,
    MESSAGE_NONE_SLOW,
    MESSAGE_NONE_SLOW_SO_FAR,
    MESSAGE_FEW_NODES,
    MESSAGE_HEAD_BETTER,
    MESSAGE_HEAD_WORSE,
    MESSAGE_SIDES_SAME,
    MESSAGE_SIDES_MIXED,
    MESSAGE_SIDES_OPEN,
    MESSAGE_WAY_FINDING,
    MESSAGE_WAYS,
    MESSAGE_WAYS_UNKNOWN,
    MESSAGE_WAYS_UNHEARD,
    MESSAGES
};

struct message {
    enum verdict_kind kind;
    enum verdict_answer answer;
    const char *text;
};

extern const struct message messages[MESSAGES];

#endif
