/* html_text.h - a page as it is written: trusted markup, and text of strangers that is
 * escaped. The first failure (out of memory, larger than allowed) sticks. */
#ifndef RINGBENCH_SERVER_REPORT_HTML_TEXT_H
#define RINGBENCH_SERVER_REPORT_HTML_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

struct html {
    struct buf out;
    bool is_failed;
};

void html_init(struct html *html, size_t max);
void html_release(struct html *html);

/* Markup that stands in our own source. */
void html_raw(struct html *html, const char *markup);
void html_rawf(struct html *html, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Any bytes, for the content of an element and for a quoted attribute: markup is escaped,
 * and what is no UTF-8, or no character that a document may hold, becomes U+FFFD. */
void html_text(struct html *html, const char *text);
void html_textf(struct html *html, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* As html_text, cut to at most max bytes of text, at a character, with an ellipsis. */
void html_short(struct html *html, const char *text, size_t max);

/* <tag class="...">text</tag>; class_name NULL: none. Both are ours, the text is not. */
void html_element(struct html *html, const char *tag, const char *class_name,
                  const char *text);

/* A value for a script element of a data type: no "<" that could end it. */
void html_json(struct html *html, const json_t *value);

#define HTML_NUMBER_MAX 32

/* A figure to so many significant digits, without an exponent from 1e-6 to 1e9; "-" if it
 * is not finite. Returns out. */
const char *html_figure(double value, int digits, char out[HTML_NUMBER_MAX]);

/* Bytes in their shortest exact spelling, in powers of 1024: 65536 is "64K". */
const char *html_size(double bytes, char out[HTML_NUMBER_MAX]);

#endif
