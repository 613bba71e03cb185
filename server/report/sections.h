/* sections.h - the parts of a report, in the order of the page */
#ifndef RINGBENCH_SERVER_REPORT_SECTIONS_H
#define RINGBENCH_SERVER_REPORT_SECTIONS_H

#include "server/report/facts.h"
#include "server/report/figures.h"
#include "server/report/html_text.h"

struct report {
    const struct facts *facts;
    const struct figures *figures;
    const char *unreal; /* as facts_unreal */
    struct html *html;
};

void section_head(const struct report *report);
void section_trouble(const struct report *report); /* messages and wrong elements */
void section_charts(const struct report *report);
void section_metrics(const struct report *report);
void section_rows(const struct report *report);
void section_skipped(const struct report *report);
void section_cases(const struct report *report);
void section_nodes(const struct report *report);
void section_spec(const struct report *report);
void section_meaning(const struct report *report);
void section_data(const struct report *report);

/* ---- Pieces that several of them use ---- */

/* <tag class="n">figure</tag> to so many digits; "-" where there is none. */
void put_figure(struct html *html, double value, int digits);
void put_integer(struct html *html, int64_t value);
/* The head of a table: names, NULL-terminated; one that begins with '#' is right-aligned.
 * Opens the region, the table and its body; caption NULL: none. `label` names the region,
 * which scrolls where it does not fit. */
void put_table(struct html *html, const char *label, const char *caption,
               const char *const *names);
void end_table(struct html *html);
/* "case 3 (NCCL_ALGO=Ring)", or "" where the run has one case. */
void put_case(const struct report *report, int64_t case_no);
/* "all_reduce float32 sum, root 0, in place". */
void put_series(struct html *html, const json_t *row);

#endif
