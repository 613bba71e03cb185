/* messages.c - all sentences of verdicts */
#include "server/finding/messages.h"

#define CLOCKS "[{error_us?} (clocks agree within {error_us} us)| (by one clock)]"
#define NOTHING_FOUND                                                                    \
    "no finding: {ok} checks are well, {not_evaluated} could not be evaluated"
#define LATEST                                                                           \
    "no rank is late: the latest one comes {$late_us:us} after the middle rank, "        \
    "{$share:.1%} of what short calls take" CLOCKS

#define GAPS                                                                             \
    "[{failed?}; {failed} of {$groups} measurements failed]"                             \
    "[; {$missing:names 1 of $n_missing} {$n_missing:was/were} not measured]"
#define NONE_SLOW                                                                        \
    "none stands out; the largest deviation is {largest_deviation:.1%}"                  \
    "[{$has_met_all?}|; a link that no group depends on would not show]" GAPS
#define COMPARED "[not alike in {$unlike:names 3}: ]{$sentence}"
#define UNREAD "[ ({$unread} line{$unread:/s} of it not understood)]"

const struct message messages[MESSAGES] = {
    [MESSAGE_RANK_LATE] =
        {VERDICT_LATENESS, VERDICT_LATE_RANK,
         "rank {$worst.rank}[ on {$worst.node}] is late in {$worst.rows} of {rows} "
         "rows[{$others?}, and {$others} more are]: it comes {$worst.late_us} us after "
         "the middle "
         "rank, {$worst.late_share:.0%} of what short calls take" CLOCKS
         ": the host, not the network"},
    [MESSAGE_TRANSFER_SLOW] = {VERDICT_LATENESS, VERDICT_SLOW_TRANSFER, "{$transfer}"},
    [MESSAGE_CALLS_SLOW] =
        {VERDICT_LATENESS, VERDICT_SLOW_TRANSFER,
         "the transfer is slow ({$slow}), and calls in which all wait for all do not "
         "show whose: the follow-up finds it (pattern pairs or bisect); " LATEST},
    [MESSAGE_NO_RANK_LATE] = {VERDICT_LATENESS, VERDICT_NONE,
                              LATEST ": where calls are slow, the transfer is"},
    [MESSAGE_LATE_FEW_ROWS] =
        {VERDICT_LATENESS, VERDICT_NOT_ENOUGH_DATA,
         "not enough data: {rows} rows can tell a late rank, and {$needed} at least are "
         "needed[; in {$unclear} more, calls are too short for clocks that "
         "agree within {$best_us} us at best]"},
    [MESSAGE_RANK_LAGS] =
        {VERDICT_HANG, VERDICT_LAGGING_RANK,
         "{$who:names 8 of lagging} {lagging:lags/lag}: {$sign}{$place}[, in the kernel "
         "(state D, {$kernel})][, its last line: {$line}][; {$waits?}{waiting} "
         "{waiting:rank waits/ranks wait} for {lagging:it/them}[, "
         "{waiting:/up to }{$furthest}]]"},
    [MESSAGE_RANKS_ALIKE] =
        {VERDICT_HANG, VERDICT_NO_RANK,
         "[{$is_all?}all {$live}|{$least} of {$live}] ranks are {$place}[{$is_all?} and "
         "none gets on: "
         "the network or the library, no rank stands out|, the others further: no rank "
         "stands out]"},
    [MESSAGE_NO_PLACES] =
        {VERDICT_HANG, VERDICT_NOT_ENOUGH_DATA,
         "[{$is_program?}a program's ranks do not say where they are, and none of their "
         "processes is stopped|no rank has said where it is]"},
    [MESSAGE_PREFLIGHT_FINDING] =
        {VERDICT_PREFLIGHT, VERDICT_FINDING,
         "{$findings} finding{$findings:/s}: {$first.check}: {$first.sentence}"},
    [MESSAGE_PREFLIGHT_OK] = {VERDICT_PREFLIGHT, VERDICT_OK, NOTHING_FOUND},
    [MESSAGE_PREFLIGHT_NOT_EVALUATED] = {VERDICT_PREFLIGHT, VERDICT_NOT_EVALUATED,
                                         NOTHING_FOUND},
    [MESSAGE_NODE_SLOW] = {VERDICT_CULPRIT, VERDICT_SLOW_NODE, "{$guilty}" GAPS},
    [MESSAGE_LINK_SLOW] = {VERDICT_CULPRIT, VERDICT_SLOW_LINK, "{$guilty}" GAPS},
    [MESSAGE_RACK_SLOW] = {VERDICT_CULPRIT, VERDICT_SLOW_RACK, "{$guilty}" GAPS},
    [MESSAGE_SUSPECT_OPEN] =
        {VERDICT_CULPRIT, VERDICT_NOT_ENOUGH_DATA,
         "not enough data: {$open.name}[ looks slow ({$open.figure} of {$open.reference} "
         "{unit})][{$others?} and {$others} more], and [{$is_new?}that is not "
         "confirmed|as much is slow that it does not explain]" GAPS},
    [MESSAGE_SLOW_TOGETHER] =
        {VERDICT_CULPRIT, VERDICT_NOT_ENOUGH_DATA,
         "not enough data: {$together:names 4} are slow together, and no node or pair of "
         "them is alone" GAPS},
    [MESSAGE_SLOW_UNEXPLAINED] =
        {VERDICT_CULPRIT, VERDICT_NOT_ENOUGH_DATA,
         "not enough data: {unexplained.slow} of {unexplained.of} measurements are slow, "
         "and no node, link or rack accounts for them" GAPS},
    [MESSAGE_FLEET_BLURRED] =
        {VERDICT_CULPRIT, VERDICT_NOT_ENOUGH_DATA,
         "not enough data: measurements scatter so far that a node may be "
         "{resolution:.0%} behind and not stand out; larger sizes, more repeats or nodes "
         "that do nothing else would tell" GAPS},
    [MESSAGE_NONE_SLOW] = {VERDICT_CULPRIT, VERDICT_NONE, NONE_SLOW},
    [MESSAGE_NONE_SLOW_SO_FAR] = {VERDICT_CULPRIT, VERDICT_NOT_ENOUGH_DATA, NONE_SLOW},
    [MESSAGE_FEW_NODES] =
        {VERDICT_CULPRIT, VERDICT_NOT_ENOUGH_DATA,
         "not enough data: {nodes_measured} of {nodes} nodes were measured, and {$least} "
         "at least are needed to tell a node from a link"},
    [MESSAGE_HEAD_BETTER] = {VERDICT_COMPARE, VERDICT_BETTER, COMPARED},
    [MESSAGE_HEAD_WORSE] = {VERDICT_COMPARE, VERDICT_WORSE, COMPARED},
    [MESSAGE_SIDES_SAME] = {VERDICT_COMPARE, VERDICT_SAME, COMPARED},
    [MESSAGE_SIDES_MIXED] = {VERDICT_COMPARE, VERDICT_MIXED, COMPARED},
    [MESSAGE_SIDES_OPEN] = {VERDICT_COMPARE, VERDICT_NOT_ENOUGH_DATA, COMPARED},
    [MESSAGE_WAY_FINDING] = {VERDICT_TRANSPORT, VERDICT_FINDING,
                             "[{$is_odd?}{nodes:names 4} {nodes:goes/go} "
                             "{$what}|{$what}[ on {nodes:names 4}]]"},
    [MESSAGE_WAYS] = {VERDICT_TRANSPORT, VERDICT_OK, "[{$who} by {$ways}][ ({$why})]"},
    [MESSAGE_WAYS_UNKNOWN] =
        {VERDICT_TRANSPORT, VERDICT_NOT_ENOUGH_DATA,
         "[{$who} by {$ways}][ ({$why})][[{$ways?}; ]{$foreign} is not judged, as NCCL "
         "2.{$from} to 2.{$to} are|{$is_silent?}NCCL's log says nothing of its "
         "ways" UNREAD "|; no way between {$lone} and another node is known" UNREAD "]"},
    [MESSAGE_WAYS_UNHEARD] =
        {VERDICT_TRANSPORT, VERDICT_NOT_ENOUGH_DATA,
         "nothing was heard of NCCL's log: [NCCL_DEBUG_FILE={$file} was "
         "set|NCCL_DEBUG={$level} was set|{$is_program?}the program does not use NCCL, "
         "or "
         "has its log elsewhere|settings of the nodes have it elsewhere]"},
};
