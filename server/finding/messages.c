/* messages.c - all sentences of verdicts */
#include "server/finding/messages.h"

/* ---- What several sentences share ---- */

/* lateness */
#define CLOCKS "[{error_us?} (clocks agree within {error_us} us)| (by one clock)]"

/* preflight */
#define NOTHING_FOUND "no finding: {ok} checks passed, {not_evaluated} could not run"

/* culprit */
#define GAPS                                                                             \
    "[{failed?}; {failed} of {$groups} measurements failed]"                             \
    "[; {$missing:names 1 of $n_missing} {$n_missing:was/were} not measured]"
#define NONE_SLOW                                                                        \
    "none stands out; the largest deviation is {largest_deviation:.1%}"                  \
    "[{$has_met_all?}|; a link that was not measured would not show]; if larger groups " \
    "are slow, they are slow together, as where many nodes fill a rail" GAPS

/* compare */
#define COMPARED "[not alike in {$unlike:names 3}: ]{$sentence}"

/* transport */
#define UNREAD "[ ({$unread} line{$unread:/s} of it not understood)]"

/* change */
#define CHANGED                                                                          \
    "{$change:.1%} [{$is_better?}faster|slower] "                                        \
    "[{$is_last?}in the last run, {$run}|from run {$run} on] "                           \
    "({$collective} {$dtype}[{$in_place?} in place] {$where}: {since.level:.4g} "        \
    "{$unit} over {since.runs} run{since.runs:/s}, before {before.level:.4g} over "      \
    "{before.runs})"                                                                     \
    "[{$is_spread?}; it began with one of the runs {earliest} to {latest}]"              \
    "[; with {$versions}]"

/* traffic */
#define TRAFFIC "at {size:size} {traffic.sentence}"

/* ---- The table ---- */

const struct message messages[MESSAGES] = {
    [MESSAGE_RANK_LATE] =
        {VERDICT_LATENESS, VERDICT_LATE_RANK,
         "rank {$worst.rank}[ on {$worst.node}] is late in {$worst.rows} of {rows} "
         "rows[{$others?}, and {$others} more are]: it comes {$worst.late_us} us after "
         "the middle rank, {$worst.late_share:.0%} of what short calls take" CLOCKS
         ": the host, not the network"},
    [MESSAGE_NO_RANK_LATE] =
        {VERDICT_LATENESS, VERDICT_NONE,
         "no rank is late: the latest one comes {$late_us:us} after the middle rank, "
         "{$share:.1%} of what short calls take" CLOCKS
         "; if calls are slow, the pattern pairs finds the slow node or link"},
    [MESSAGE_LATE_FEW_ROWS] =
        {VERDICT_LATENESS, VERDICT_NOT_ENOUGH_DATA,
         "not enough data: {rows} rows can tell a late rank, and {$needed} at least are "
         "needed[; in {$unclear} more, calls are too short for clocks that agree within "
         "{$best_us} us at best]"},
    [MESSAGE_RANK_LAGS] =
        {VERDICT_HANG, VERDICT_LAGGING_RANK,
         "{$who:names 8 of lagging} {lagging:lags/lag}: {$sign}{$place}[, in the kernel "
         "(state D, {$kernel})][, its last line: {$line}][; {$waits?}{waiting} "
         "{waiting:rank waits/ranks wait} for {lagging:it/them}[, {waiting:/up to "
         "}{$furthest}]]"},
    [MESSAGE_RANKS_ALIKE] =
        {VERDICT_HANG, VERDICT_NO_RANK,
         "[{$is_all?}all {$live}|{$least} of {$live}] ranks are {$place}[{$is_all?} and "
         "none makes progress: the network or the library, no rank stands out|, the "
         "others are further: no rank stands out]"},
    [MESSAGE_NO_PLACES] =
        {VERDICT_HANG, VERDICT_NOT_ENOUGH_DATA,
         "[{$is_program?}a program's ranks do not report their operation, and none of "
         "their processes is stopped|no rank has reported its operation]"},
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
         "no log of NCCL arrived: [NCCL_DEBUG_FILE={$file} was set|NCCL_DEBUG={$level} "
         "was set|{$is_program?}the program does not use NCCL, or logs "
         "elsewhere|settings of the nodes send it elsewhere]"},
    [MESSAGE_CHECKS_PASSED] = {VERDICT_GATE, VERDICT_PASS, "all {$all} checks passed"},
    [MESSAGE_CHECKS_FAILED] = {VERDICT_GATE, VERDICT_FAIL,
                               "{$n} of {$all} checks failed: {$first}: {$why}"},
    [MESSAGE_CHECKS_OPEN] =
        {VERDICT_GATE, VERDICT_NOT_EVALUATED,
         "{$n} of {$all} checks could not be evaluated: {$first}: {$why}"},
    [MESSAGE_NO_CHECKS] = {VERDICT_GATE, VERDICT_NOT_EVALUATED,
                           "the run's spec asks for no checks"},
    [MESSAGE_FASTER] = {VERDICT_CHANGE, VERDICT_BETTER, CHANGED},
    [MESSAGE_SLOWER] = {VERDICT_CHANGE, VERDICT_WORSE, CHANGED},
    [MESSAGE_NO_CHANGE] = {VERDICT_CHANGE, VERDICT_NONE,
                           "no change found in {runs} runs"},
    [MESSAGE_CHANGE_DOUBTFUL] =
        {VERDICT_CHANGE, VERDICT_NONE,
         "no certain change in {runs} runs: {$change:.1%} [{$is_better?}faster|slower] "
         "from run {$run} on may be chance, given the number of series shown"},
    [MESSAGE_FEW_RUNS] = {VERDICT_CHANGE, VERDICT_NOT_ENOUGH_DATA,
                          "{runs} of the {$needed} runs that are needed to see a change"},
    [MESSAGE_PROJECTED] =
        {VERDICT_PROJECTION, VERDICT_PROJECTED,
         "{$sentence}[{refused?}; {refused} of {$sizes} sizes can't be projected]"},
    [MESSAGE_NOT_PROJECTED] = {VERDICT_PROJECTION, VERDICT_NOT_ENOUGH_DATA,
                               "not enough data: [{$sentence}|no case has results]"},
    [MESSAGE_BUDGET] = {VERDICT_BUDGET, VERDICT_ESTIMATED,
                        "communication takes {time_s} s[{$is_range?} ({time_low_s} to "
                        "{time_high_s})] of [a {step_s} s step unless overlapped "
                        "({$part:.0%})|a step unless overlapped]"},
    [MESSAGE_BUDGET_OPEN] =
        {VERDICT_BUDGET, VERDICT_NOT_ENOUGH_DATA,
         "not enough data: no case of the run on {$ranks} ranks has times of {$missing} "
         "out of place; the most ranks are {$most}"},
    [MESSAGE_CEILING] =
        {VERDICT_CEILING, VERDICT_EXPECTED,
         "rings reach {$gbs:.4g} GB/s of bus bandwidth at most: {limit} of each {$of}"},
    [MESSAGE_CEILING_UNKNOWN] = {VERDICT_CEILING, VERDICT_NOT_ENOUGH_DATA,
                                 "the links' limit is not known: {$why}"},
    [MESSAGE_TRAFFIC_BY_NETWORK] = {VERDICT_TRAFFIC, VERDICT_BY_NETWORK, TRAFFIC},
    [MESSAGE_TRAFFIC_PARTLY] = {VERDICT_TRAFFIC, VERDICT_PARTLY, TRAFFIC},
    [MESSAGE_TRAFFIC_ANOTHER_WAY] = {VERDICT_TRAFFIC, VERDICT_ANOTHER_WAY, TRAFFIC},
    [MESSAGE_TRAFFIC_WITHIN_NODES] = {VERDICT_TRAFFIC, VERDICT_WITHIN_NODES, TRAFFIC},
    [MESSAGE_TRAFFIC_NOT_EVALUATED] = {VERDICT_TRAFFIC, VERDICT_NOT_EVALUATED, TRAFFIC},
    [MESSAGE_TOPOLOGY_SAME] = {VERDICT_TOPOLOGY, VERDICT_SAME,
                               "the topology is the same on all {nodes} nodes"},
    [MESSAGE_TOPOLOGY_DIFFERS] = {VERDICT_TOPOLOGY, VERDICT_DIFFERS,
                                  "[identical on {$usual} of {nodes}|{$kinds} kinds of "
                                  "topology on {nodes} nodes]; {$differences}"},
    [MESSAGE_TOPOLOGY_OPEN] = {VERDICT_TOPOLOGY, VERDICT_NOT_ENOUGH_DATA,
                               "[{$one?}one|no] node has reported its topology, so there "
                               "is nothing to compare"},
};
