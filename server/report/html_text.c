/* html_text.c - a page as it is written */
#include "server/report/html_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clean_text.h"
#include "common/json_util.h"
#include "common/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"
#define ELLIPSIS "\xe2\x80\xa6"

void html_init(struct html *html, size_t max)
{
    buf_init(&html->out, max);
    html->is_failed = false;
}

void html_release(struct html *html)
{
    buf_release(&html->out);
}

static void put(struct html *html, const char *data, size_t len)
{
    if (!html->is_failed && buf_append(&html->out, data, len))
        html->is_failed = true;
}

void html_raw(struct html *html, const char *markup)
{
    put(html, markup, strlen(markup));
}

/* The formatted text, which the caller frees, or NULL. */
static char *format_text(struct html *html, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static char *format_text(struct html *html, const char *format, va_list args)
{
    char *text;

    if (vasprintf(&text, format, args) >= 0)
        return text;
    html->is_failed = true;
    return NULL;
}

void html_rawf(struct html *html, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = format_text(html, format, args);
    va_end(args);
    if (text)
        html_raw(html, text);
    free(text);
}

void html_textf(struct html *html, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = format_text(html, format, args);
    va_end(args);
    if (text)
        html_text(html, text);
    free(text);
}

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Write the character at text, return its length. */
static size_t put_character(struct html *html, const char *text, size_t left)
{
    const char *entity = entity_of(*text);
    size_t len = utf8_sequence(text, left);
    bool is_blank = *text == '\t' || *text == '\n';

    if (entity)
        html_raw(html, entity);
    else if (len == 0 || (!is_blank && clean_text_is_special(utf8_code(text, len))))
        html_raw(html, REPLACEMENT);
    else
        put(html, text, len);
    return len ? len : 1;
}

/* Whether a byte can be passed on as it is, with those beside it. */
static bool is_plain(char c)
{
    return c >= 0x20 && c < 0x7f && !entity_of(c);
}

static void put_text(struct html *html, const char *text, size_t len)
{
    const char *end = text + len;

    while (text < end) {
        const char *plain = text;

        while (plain < end && is_plain(*plain))
            plain++;
        put(html, text, (size_t)(plain - text));
        text = plain;
        if (text < end)
            text += put_character(html, text, (size_t)(end - text));
    }
}

void html_text(struct html *html, const char *text)
{
    put_text(html, text, strlen(text));
}

void html_short(struct html *html, const char *text, size_t max)
{
    size_t len = strlen(text);

    if (len <= max) {
        put_text(html, text, len);
        return;
    }
    while (max > 0 && ((unsigned char)text[max] & 0xc0) == 0x80)
        max--;
    put_text(html, text, max);
    html_raw(html, ELLIPSIS);
}

void html_element(struct html *html, const char *tag, const char *class_name,
                  const char *text)
{
    html_rawf(html, "<%s%s%s%s>", tag, class_name ? " class=\"" : "",
              class_name ? class_name : "", class_name ? "\"" : "");
    html_text(html, text);
    html_rawf(html, "</%s>", tag);
}

/* In JSON, these stand in strings only. */
static void put_json_text(struct html *html, const char *text)
{
    for (;;) {
        size_t len = strcspn(text, "<>&");

        put(html, text, len);
        if (!text[len])
            return;
        html_rawf(html, "\\u%04x", (unsigned)(unsigned char)text[len]);
        text += len + 1;
    }
}

void html_json(struct html *html, const json_t *value)
{
    char *text = value ? json_text(value) : NULL;

    if (text)
        put_json_text(html, text);
    else
        html->is_failed = true;
    free(text);
}

const char *html_figure(double value, int digits, char out[HTML_NUMBER_MAX])
{
    double magnitude = fabs(value);
    int decimals = 0;

    if (!isfinite(value))
        snprintf(out, HTML_NUMBER_MAX, "-");
    else if (magnitude >= 1e9 || (magnitude > 0.0 && magnitude < 1e-6))
        snprintf(out, HTML_NUMBER_MAX, "%.*e", digits - 1, value);
    else {
        if (magnitude > 0.0)
            decimals = digits - 1 - (int)floor(log10(magnitude));
        snprintf(out, HTML_NUMBER_MAX, "%.*f", decimals > 0 ? decimals : 0, value);
    }
    return out;
}

const char *html_size(double bytes, char out[HTML_NUMBER_MAX])
{
    static const char suffixes[] = "\0KMGTP";
    size_t i = 0;

    while (bytes >= 1024.0 && fmod(bytes, 1024.0) < 0.5 && i + 2 < sizeof(suffixes)) {
        bytes /= 1024.0;
        i++;
    }
    snprintf(out, HTML_NUMBER_MAX, "%.15g%.1s", bytes, &suffixes[i]);
    return out;
}
