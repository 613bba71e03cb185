/* report.c - a run as one page of HTML */
#include "server/report/report.h"

#include "common/clock.h"
#include "common/json_util.h"
#include "server/report/sections.h"
#include "server/report/style.h"

#define TITLE_MAX 200
#define FORMAT_VERSION 1

static void put_document_head(const struct report *report, const char *policy)
{
    struct html *html = report->html;
    const json_t *run = report->facts->run;
    const char *name = json_get_str(run, "name", "");

    html_raw(html,
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"");
    html_text(html, policy);
    html_raw(html,
             "\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n"
             "<meta name=\"robots\" content=\"noindex\">\n"
             "<meta name=\"generator\" content=\"ringbench " RINGBENCH_VERSION "\">\n"
             "<link rel=\"icon\" href=\"data:,\">\n<title>");
    if (report->unreal)
        html_rawf(html, "[%s] ", report->unreal);
    html_short(html, *name ? name : json_get_str(run, "id", ""), TITLE_MAX);
    html_raw(html, " - ringbench</title>\n<style>");
    html_raw(html, style_text());
    html_raw(html, "</style>\n</head>\n");
}

static void put_footer(const struct report *report)
{
    struct html *html = report->html;
    char time[CLOCK_TEXT_MAX];

    html_rawf(html, "<footer><p>Made by ringbench " RINGBENCH_VERSION " at %s. ",
              clock_format_ms(report->facts->generated_ms, time));
    html_raw(html,
             "This file needs nothing but itself: no server, no network, no script. "
             "The data of the run stands in it as JSON, in the element with the id "
             "<code>ringbench-data</code>.</p>");
    if (report->facts->address) {
        html_raw(html, "<p>When it was made, the run was at ");
        html_element(html, "span", NULL, report->facts->address);
        html_raw(html, ".</p>");
    }
    html_raw(html, "</footer>\n");
}

static void put_body(const struct report *report)
{
    html_raw(report->html, "<body>\n<header>\n");
    section_head(report);
    html_raw(report->html, "</header>\n<main>\n");
    section_trouble(report);
    section_charts(report);
    section_metrics(report);
    section_rows(report);
    section_skipped(report);
    section_cases(report);
    section_nodes(report);
    section_spec(report);
    section_meaning(report);
    html_raw(report->html, "</main>\n");
    put_footer(report);
    section_data(report);
    html_raw(report->html, "</body>\n</html>\n");
}

int report_write(const struct facts *facts, struct buf *out)
{
    struct figures *own = facts->figures ? NULL : figures_create(facts->run, facts->rows);
    const struct figures *figures = facts->figures ? facts->figures : own;
    struct html html;
    struct report report = {facts, figures, facts_unreal(facts), &html};
    char policy[STYLE_POLICY_MAX];

    html_init(&html, REPORT_BYTES_MAX);
    if (!figures || style_policy(policy)) {
        html.is_failed = true;
    } else {
        put_document_head(&report, policy);
        put_body(&report);
    }
    figures_destroy(own);
    *out = html.out;
    return html.is_failed ? -1 : 0;
}

/* What a program would want to read years later: all that the page was made of. */
void section_data(const struct report *report)
{
    const struct facts *facts = report->facts;
    char time[CLOCK_TEXT_MAX];
    json_t *data = json_pack(
        "{s:s, s:i, s:s, s:s, s:O, s:O, s:I, s:O, s:I, s:O, s:I, s:O}", "format",
        "ringbench-report", "version", FORMAT_VERSION, "generated",
        clock_format_ms(facts->generated_ms, time), "generator",
        "ringbench " RINGBENCH_VERSION, "run", facts->run, "rows", facts->rows,
        "rows_left_out", (json_int_t)facts_rows_left_out(facts), "messages",
        facts->messages, "messages_left_out", (json_int_t)facts->messages_left_out,
        "connected", facts->connected, "connected_left_out",
        (json_int_t)facts->connected_left_out, "nodes", facts->nodes);

    html_raw(report->html, "<script type=\"application/json\" id=\"ringbench-data\">");
    html_json(report->html, data);
    html_raw(report->html, "</script>\n");
    json_decref(data);
}
