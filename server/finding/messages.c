/* SPDX-License-Identifier: Apache-2.0 */
/* messages.c - defines the table of verdict sentences */
#include "server/finding/messages.h"

/* ---- Parts that several sentences share ---- */

/* lateness */
#define CLOCKS "[{error_us?} (clocks agree within {error_us} us)| (by one clock)]"

/* preflight */
#define NOTHING_FOUND                                                                    \
    "no finding: {ok} check{ok:/s} passed, {not_evaluated} could not run"

/* culprit */
#define GAPS                                                                             \
    "[{failed?}; {failed} of {$groups} measurements failed]"                             \
    "[; {$missing:names 1 of $n_missing} {$n_missing:was/were} not measured]"
#define NONE_SLOW                                                                        \
    "no node, link or rack stands out; the largest deviation is {largest_deviation:.1%}" \
    "[{$has_met_all?}|; a slow link that was not measured would not show]; if a "        \
    "larger group is slow, its nodes are slow only together, for example because "       \
    "they fill a rail" GAPS

/* watch */
#define SWEPT                                                                            \
    " ({measured} of {of} node{of:/s} measured[; missed: {missed:names 3 of n_missed}]"  \
    "[; {$was_skipped?}{skipped} earlier due time{skipped:/s} {skipped:was/were} "       \
    "skipped])"
#define SWEEP_NAMED "{$said}[{$others?}; and {$others} more]" SWEPT

/* compare */
#define COMPARED "[base and head differ in {$unlike:names 3}: ]{$sentence}"

/* transport */
#define UNREAD                                                                           \
    "[ ({$unread} line{$unread:/s} of the log {$unread:was/were} not understood)]"

#define TORCH_RANKS "{$n_ranks:rank/ranks} {$ranks}[ on {$nodes:names 16}]"
#define TORCH_WAITING                                                                    \
    "{$waiting:rank/ranks} {$others} {$waiting:waits/wait} in operation {$work}[ "       \
    "({$op})]"

/* change */
#define CHANGED                                                                          \
    "{$change:.1%} [{$is_better?}faster|slower] "                                        \
    "[{$is_last?}in the last run, on {$when}|from {$when} on] "                          \
    "({$collective} {$dtype}[{$in_place?} in place] {$where}: {since.level:.4g} "        \
    "{$unit} over {since.runs} run{since.runs:/s}, before {before.level:.4g} over "      \
    "{before.runs})"                                                                     \
    "[{$is_spread?}; the change began between {$earliest} and {$latest}]"                \
    "[; with {$versions}]"

/* ---- The table ---- */

const struct message messages[MESSAGES] = {
#define MESSAGE(id, kind, answer, text)                                                  \
    [MESSAGE_##id] = {VERDICT_##kind, VERDICT_##answer, text},
#include "server/finding/messages.inc"
#undef MESSAGE
};
