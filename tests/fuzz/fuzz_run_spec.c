/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_run_spec.c - any body of POST /runs: it is refused with reasons, or its effective
 * form is accepted and says the same, to a worker too */
#include <stdint.h>
#include <stdlib.h>

#include "common/base/json_util.h"
#include "common/spec/run_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(int claim)
{
    if (!claim)
        abort();
}

static void check_fixed_point(const struct run_spec *spec)
{
    json_t *shown = run_spec_to_json(spec), *file = run_spec_case_json(spec), *again;
    struct problems problems;
    struct run_spec *second, *workers;
    struct error err;

    require(shown && file);
    workers = run_spec_read_case(file, &err);
    require(workers != NULL);
    again = run_spec_case_json(workers);
    require(json_equal(file, again));
    json_decref(again);
    run_spec_destroy(workers);
    problems_init(&problems);
    second = run_spec_parse(shown, &problems);
    require(second && problems.count == 0);
    again = run_spec_to_json(second);
    require(json_equal(shown, again));
    run_spec_destroy(second);
    problems_release(&problems);
    json_decref(again);
    json_decref(file);
    json_decref(shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct error err;
    struct problems problems;
    struct run_spec *spec;
    json_t *body = json_parse((const char *)data, len, &err);

    if (!body)
        return 0;
    problems_init(&problems);
    spec = run_spec_parse(body, &problems);
    require((spec == NULL) == (problems.count > 0));
    require(json_array_size(problems.errors) ==
            (problems.count < PROBLEMS_MAX ? problems.count : PROBLEMS_MAX));
    if (spec)
        check_fixed_point(spec);
    run_spec_destroy(spec);
    problems_release(&problems);
    json_decref(body);
    return 0;
}
