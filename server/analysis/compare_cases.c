/* SPDX-License-Identifier: Apache-2.0 */
/* compare_cases.c - selects the cases to compare and pairs them */
#include "server/analysis/compare_cases.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/likeness.h"

void compare_side_release(struct compare_side *side)
{
    for (size_t i = 0; i < side->n; i++)
        json_decref(side->cases[i].env);
    free(side->cases);
    side->cases = NULL;
    side->n = side->capacity = 0;
}

/* ---- Selection ---- */

/* Return the run's variables, overridden by the case's variables. */
static json_t *env_of(const json_t *run, const json_t *doc)
{
    json_t *env = json_copy(json_object_get(json_object_get(run, "spec"), "env"));

    if (!env)
        env = json_object();
    if (json_object_get(doc, "env"))
        json_object_update(env, json_object_get(doc, "env"));
    return env;
}

static bool has_env(const json_t *env, const json_t *wanted)
{
    const char *name;
    json_t *value;

    json_object_foreach ((json_t *)(uintptr_t)wanted, name, value) {
        const json_t *own = json_object_get(env, name);

        if (json_is_null(value) ? own && !json_is_null(own) : !json_equal(own, value))
            return false;
    }
    return true;
}

static bool is_chosen(const struct compare_side *side, const struct compare_run *run,
                      int case_no)
{
    for (size_t i = 0; i < side->n; i++)
        if (side->cases[i].run == run && side->cases[i].case_no == case_no)
            return true;
    return false;
}

static void choose_case(struct compare_side *side, const struct compare_run *run,
                        int case_no, const json_t *wanted)
{
    const json_t *doc =
        json_array_get(json_object_get(run->doc, "cases"), (size_t)case_no);
    json_t *env = env_of(run->doc, doc);

    if (!has_env(env, wanted) || is_chosen(side, run, case_no)) {
        json_decref(env);
        return;
    }
    if (strcmp(json_get_str(doc, "state", ""), "completed") != 0) {
        json_decref(env);
        side->unfinished++;
        return;
    }
    side->cases = memory_grown(side->cases, side->n, &side->capacity,
                               sizeof(*side->cases), "the cases of a comparison");
    side->cases[side->n++] = (struct compare_choice){run, doc, case_no, env};
}

int compare_side_take(struct compare_side *side, const struct compare_ask *ask,
                      const json_t *env, struct error *err)
{
    int n = (int)json_array_size(json_object_get(ask->run->doc, "cases"));
    int first = ask->case_no < 0 ? 0 : ask->case_no;
    int end = ask->case_no < 0 ? n : ask->case_no + 1;

    if (ask->case_no >= n)
        return error_set(err, ERROR_NOT_FOUND,
                         "run %s has no case %d, only cases 0 to %d",
                         json_get_str(ask->run->doc, "id", "?"), ask->case_no, n - 1);
    for (int i = first; i < end; i++)
        choose_case(side, ask->run, i, env);
    return 0;
}

static int no_case(const struct compare_side *side, const struct compare_ask *ask,
                   const json_t *env, struct error *err)
{
    char *wanted = json_object_size(env) ? json_text(env) : NULL;
    char *matrix =
        json_text(json_object_get(json_object_get(ask->run->doc, "spec"), "matrix"));

    error_set(err, ERROR_INVALID,
              "%s has no case%s%.200s; the matrix of run %s is %.300s", side->name,
              wanted ? " with " : "", wanted ? wanted : "",
              json_get_str(ask->run->doc, "id", "?"), matrix ? matrix : "{}");
    free(wanted);
    free(matrix);
    return -1;
}

/* Reject cases on different nodes, because their figures are not comparable. */
static int check_nodes(const struct compare_side *side, struct error *err)
{
    const json_t *first =
        side->n > 0 ? json_object_get(side->cases[0].doc, "nodes") : NULL;

    for (size_t i = 1; i < side->n; i++) {
        const json_t *nodes = json_object_get(side->cases[i].doc, "nodes");

        if (nodes != first && !json_equal(nodes, first))
            return error_set(
                err, ERROR_INVALID,
                "the cases of %s ran on different nodes: name one case, as in %s:%d",
                side->name, json_get_str(side->cases[i].run->doc, "id", "?"),
                side->cases[i].case_no);
    }
    return 0;
}

int compare_side_choose(struct compare_side *side, const struct compare_ask *asks,
                        size_t n, const json_t *env, struct error *err)
{
    for (size_t i = 0; i < n; i++)
        if (compare_side_take(side, &asks[i], env, err))
            return -1;
    if (side->n + side->unfinished == 0)
        return no_case(side, &asks[0], env, err);
    return check_nodes(side, err);
}

/* Return true if any case of the side sets the same variables as `env`. */
static bool is_any_alike(const struct compare_side *side, const json_t *env)
{
    json_t *own = json_copy((json_t *)(uintptr_t)env);
    bool is_alike = false;

    json_object_del(own, LIKENESS_NIGHT);
    for (size_t i = 0; i < side->n && !is_alike; i++) {
        json_t *other = json_copy(side->cases[i].env);

        json_object_del(other, LIKENESS_NIGHT);
        is_alike = has_env(own, other) && has_env(other, own);
        json_decref(other);
    }
    json_decref(own);
    return is_alike;
}

void compare_side_keep_alike(struct compare_side *base, const struct compare_side *head)
{
    size_t n = 0;

    for (size_t i = 0; i < base->n; i++)
        if (is_any_alike(head, base->cases[i].env))
            base->cases[n++] = base->cases[i];
        else
            json_decref(base->cases[i].env);
    base->n = n;
}

void compare_side_keep_confirming(struct compare_side *side, bool confirms)
{
    size_t n = 0;

    for (size_t i = 0; i < side->n; i++)
        if (json_get_bool(side->cases[i].doc, "confirms", false) == confirms)
            side->cases[n++] = side->cases[i];
        else
            json_decref(side->cases[i].env);
    side->n = n;
}

int compare_sides_check(const struct compare_side *base, const struct compare_side *head,
                        struct error *err)
{
    for (size_t i = 0; i < base->n; i++) {
        const struct compare_choice *one = &base->cases[i];

        if (is_chosen(head, one->run, one->case_no))
            return error_set(err, ERROR_INVALID,
                             "case %d of run %s is in both base and head: choose "
                             "other cases for one of them, as RUN:CASE or by an "
                             "environment setting (base_env, head_env)",
                             one->case_no, json_get_str(one->run->doc, "id", "?"));
    }
    return 0;
}

/* ---- Nodes and ranks ---- */

/* Return the names of the case's nodes, or NULL if the case uses all nodes of its run.
 * Only cases of a pattern list their nodes. */
static const json_t *names_of(const struct compare_choice *choice)
{
    return json_object_get(choice->doc, "nodes");
}

size_t compare_choice_nodes(const struct compare_choice *choice)
{
    const json_t *names = names_of(choice);

    return json_array_size(names ? names : json_object_get(choice->run->doc, "nodes"));
}

size_t compare_choice_ranks(const struct compare_choice *choice)
{
    const json_t *nodes = json_object_get(choice->run->doc, "nodes");
    const json_t *names = names_of(choice);
    json_t *among = json_object();
    size_t ranks = 0;

    for (size_t i = 0; i < json_array_size(names); i++)
        json_object_set_new(among, json_string_value(json_array_get(names, i)),
                            json_true());
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);

        if (!names || json_object_get(among, json_get_str(node, "name", "")))
            ranks += (size_t)json_get_int(node, "ranks", 0);
    }
    json_decref(among);
    return ranks;
}

/* ---- Pairs ---- */

/* Return true if all of a side's cases have the same value of a variable. */
static bool is_constant(const struct compare_side *side, const char *name)
{
    const json_t *first = json_object_get(side->cases[0].env, name);

    for (size_t i = 1; i < side->n; i++) {
        const json_t *other = json_object_get(side->cases[i].env, name);

        if (!(first == other || json_equal(first, other)))
            return false;
    }
    return true;
}

/* Return a key that both cases of a pair have in common: the repeat, and the variables
 * that are equal on both sides. */
static char *pair_key(const struct compare_choice *one, const struct compare_side *base,
                      const struct compare_side *head)
{
    json_t *key = json_object(), *value;
    const char *name;
    char *text;

    json_object_set(key, "", json_object_get(one->doc, "repeat"));
    json_object_foreach (one->env, name, value)
        if (!is_constant(base, name) || !is_constant(head, name))
            json_object_set(key, name, value);
    text = json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(key);
    return text;
}

static bool are_of_one_run(const struct compare_side *base,
                           const struct compare_side *head)
{
    const struct compare_run *run = base->cases[0].run;

    for (size_t i = 0; i < base->n; i++)
        if (base->cases[i].run != run)
            return false;
    for (size_t i = 0; i < head->n; i++)
        if (head->cases[i].run != run)
            return false;
    return strcmp(json_get_str(json_object_get(run->doc, "spec"), "order", ""),
                  "interleaved") == 0;
}

/* Return {key: index} for the side's cases, or NULL if two cases have the same key. */
static json_t *index_of(const struct compare_side *side, const struct compare_side *base,
                        const struct compare_side *head)
{
    json_t *index = json_object();

    for (size_t i = 0; index && i < side->n; i++) {
        char *key = pair_key(&side->cases[i], base, head);

        if (json_object_get(index, key)) {
            json_decref(index);
            index = NULL;
        }
        json_object_set_new(index, key, json_integer((json_int_t)i));
        free(key);
    }
    return index;
}

/* Move the n cases at the indexes in `order` to the front, and drop the others. */
static void arrange(struct compare_side *side, struct compare_choice *scratch,
                    const size_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        scratch[i] = side->cases[order[i]];
        side->cases[order[i]].env = NULL;
    }
    for (size_t i = 0; i < side->n; i++)
        json_decref(side->cases[i].env);
    memcpy(side->cases, scratch, n * sizeof(*scratch));
    side->unpaired = side->n - n;
    side->n = n;
}

static bool match(struct compare_side *base, struct compare_side *head,
                  const json_t *of_base, const json_t *of_head)
{
    size_t most = base->n + head->n, n = 0;
    size_t *left = memory_zeroed(most, sizeof(*left), "pairs of cases");
    size_t *right = memory_zeroed(most, sizeof(*right), "pairs of cases");
    struct compare_choice *scratch =
        memory_zeroed(most, sizeof(*scratch), "pairs of cases");
    const char *key;
    json_t *at;

    json_object_foreach ((json_t *)(uintptr_t)of_base, key, at) {
        const json_t *other = json_object_get(of_head, key);

        if (!other)
            continue;
        left[n] = (size_t)json_integer_value(at);
        right[n++] = (size_t)json_integer_value(other);
    }
    if (n > 0) {
        arrange(base, scratch, left, n);
        arrange(head, scratch, right, n);
    }
    free(left);
    free(right);
    free(scratch);
    return n > 0;
}

bool compare_sides_pair(struct compare_side *base, struct compare_side *head)
{
    json_t *of_base, *of_head;
    bool is_paired = false;

    if (base->n == 0 || head->n == 0 || !are_of_one_run(base, head))
        return false;
    of_base = index_of(base, base, head);
    of_head = index_of(head, base, head);
    if (of_base && of_head)
        is_paired = match(base, head, of_base, of_head);
    json_decref(of_base);
    json_decref(of_head);
    return is_paired;
}

struct compare_lot *compare_side_lots(const struct compare_side *side)
{
    struct compare_lot *lots =
        memory_zeroed(side->n + 1, sizeof(*lots), "the cases of a comparison");

    for (size_t i = 0; i < side->n; i++)
        lots[i] =
            (struct compare_lot){side->cases[i].run->values, side->cases[i].case_no};
    return lots;
}
