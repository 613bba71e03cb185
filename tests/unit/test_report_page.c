/* SPDX-License-Identifier: Apache-2.0 */
/* test_report_page.c - text of strangers inside a page */
#include "server/api/report_data.h"
#include "server/api/report_page.h"
#include "tests/unit/test.h"

/* Stands in for the page that the build makes. */
#define POLICY "default-src 'none'; script-src 'sha256-abc='"
const unsigned char report_data[] =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"" POLICY
    "\"><title><!--slot title--></title><pre><!--slot text--></pre>"
    "<script type=\"application/json\"><!--slot data--></script>end";
const size_t report_data_len = sizeof(report_data) - 1;

static struct buf buf_of(const char *text)
{
    struct buf buf;

    buf_init(&buf, 1000);
    assert_int_equal(buf_append_str(&buf, text), 0);
    return buf;
}

TEST(fills_each_slot)
{
    struct buf text = buf_of("a < b & c > d \"'"), data = buf_of("{\"x\":1}"), out;

    buf_init(&out, 10000);
    assert_int_equal(report_page_fill(&out, "</title><b>&", &text, &data), 0);
    assert_int_equal(buf_append(&out, "", 1), 0);
    assert_string_equal(out.data,
                        "<meta http-equiv=\"Content-Security-Policy\" content=\"" POLICY
                        "\"><title>&lt;/title&gt;&lt;b&gt;&amp;</title>"
                        "<pre>a &lt; b &amp; c &gt; d \"'</pre>"
                        "<script type=\"application/json\">{\"x\":1}</script>end");
    buf_release(&out);
    buf_release(&text);
    buf_release(&data);
}

/* A mark that a stranger wrote is no slot: it is escaped, and behind the slot that it
 * names. */
TEST(takes_no_slot_from_strangers)
{
    static const char hostile[] = "[\"<!--slot text--></script>\"]";
    struct buf text = buf_of("<!--slot data-->"), data, out;

    buf_init(&data, 1000);
    buf_init(&out, 10000);
    assert_int_equal(report_page_put_json(&data, hostile, strlen(hostile)), 0);
    assert_int_equal(report_page_fill(&out, "<!--slot text-->", &text, &data), 0);
    assert_int_equal(buf_append(&out, "", 1), 0);
    assert_non_null(strstr(out.data, "<title>&lt;!--slot text--&gt;</title>"
                                     "<pre>&lt;!--slot data--&gt;</pre>"));
    assert_non_null(
        strstr(out.data, "[\"\\u003c!--slot text-->\\u003c/script>\"]</script>"));
    buf_release(&out);
    buf_release(&text);
    buf_release(&data);
}

TEST(says_when_it_does_not_fit)
{
    struct buf text = buf_of("text"), data = buf_of("{}"), out;

    buf_init(&out, 60);
    assert_int_equal(report_page_fill(&out, "title", &text, &data), -1);
    buf_release(&out);
    buf_init(&out, 3);
    assert_int_equal(report_page_put_json(&out, "<", 1), -1);
    buf_release(&out);
    buf_release(&text);
    buf_release(&data);
}

TEST(states_the_policy_of_the_page)
{
    size_t len;
    const char *policy = report_page_policy(&len);

    assert_true(report_page_exists());
    assert_int_equal(len, strlen(POLICY));
    assert_memory_equal(policy, POLICY, len);
}
