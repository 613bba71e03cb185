/* SPDX-License-Identifier: Apache-2.0 */
/* heading.c - collects the lines above a table that describe the table */
#include "server/import/heading.h"

#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 400
#define TITLE_MAX_BYTES 120

/* ---- settings ---- */

/* True for variables that identify a job. They differ between repeats of the same
 * benchmark. */
static bool is_of_job(const char *name, size_t len)
{
    static const char *const prefixes[] = {
        "SLURM", "PBS",  "LSB",  "PMI",  "OMPI_COMM",       "JOB",
        "PWD",   "DATE", "HOST", "PATH", "LD_LIBRARY_PATH", "MASTER",
        "RANK"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return len > 3 && memcmp(name + len - 3, "_ID", 3) == 0;
}

/* Return the length of the name in "NCCL_ALGO=Ring", or 0 if it is not a setting. */
static size_t name_length(const char *word)
{
    size_t len = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

    return len >= 3 && isupper((unsigned char)word[0]) && word[len] == '=' &&
                   word[len + 1] > ' ' && word[len + 1] != '=' && !is_of_job(word, len)
               ? len
               : 0;
}

static void add_setting(struct heading *heading, const char *word)
{
    size_t n = strlen(heading->settings);
    size_t len = strcspn(word, "\"'`;,");

    if (n + len + 2 < HEADING_SIZE)
        snprintf(heading->settings + n, HEADING_SIZE - n, "%s%.*s", n ? " " : "",
                 (int)len, word);
}

/* ---- titles ---- */

static const char *undecorated(const char *line)
{
    return line + strspn(line, "=-*#>+~$ \t");
}

/* True if the line is a title: it is decorated, or ends with a colon. */
static bool is_title(const char *line, bool *is_decorated)
{
    size_t len = strlen(line);

    *is_decorated = len > 1 && line[0] == line[1] && strchr("=-*#>~+", line[0]);
    return len > 1 && len <= TITLE_MAX_BYTES && *undecorated(line) &&
           (*is_decorated || line[len - 1] == ':');
}

static void set_title(struct heading *heading, const char *line)
{
    const char *from = undecorated(line);
    size_t len = strlen(from);

    while (len > 0 && strchr("=-*#<~+: \t\r", from[len - 1]))
        len--;
    snprintf(heading->title, HEADING_SIZE, "%.*s",
             (int)(len < HEADING_SIZE ? len : HEADING_SIZE - 1), from);
}

/* True for "Algorithm: Ring", false for "[node-1:4711] 3 more processes have sent a
 * message". */
static bool is_short(const char *line)
{
    size_t words = 0;

    if (strlen(line) >= HEADING_SIZE || *line == '[' || strchr(line, '/') ||
        is_of_job(line, strcspn(line, "=")))
        return false;
    for (const char *at = line; *at; at += strspn(at, " \t"), words++)
        at += strcspn(at, " \t");
    return words <= 5;
}

void heading_line(struct heading *heading, const char *line)
{
    char copy[LINE_MAX_BYTES], *save = NULL;
    size_t len;
    bool has_settings = false, is_decorated;

    line += strspn(line, " \t");
    snprintf(copy, sizeof(copy), "%.*s", (int)sizeof(copy) - 1, line);
    len = strlen(copy);
    while (len > 0 && isspace((unsigned char)copy[len - 1]))
        copy[--len] = '\0';
    if (!*undecorated(copy))
        return;
    if (is_title(copy, &is_decorated)) {
        set_title(heading, copy);
        heading->is_title_weak = !is_decorated;
    } else
        snprintf(heading->last, HEADING_SIZE, "%s", is_short(copy) ? copy : "");
    /* Most lines of a training program's output contain no setting. */
    if (!strchr(copy, '='))
        return;
    for (char *word = strtok_r(copy, " \t", &save); word;
         word = strtok_r(NULL, " \t", &save)) {
        word += strspn(word, "\"'`");
        if (!name_length(word))
            continue;
        /* When space runs short, the settings in a new line replace those from earlier
         * lines. The settings in one line stay together. */
        if (!has_settings && strlen(heading->settings) > HEADING_SIZE / 2)
            heading->settings[0] = '\0';
        has_settings = true;
        add_setting(heading, word);
    }
}

/* ---- repeats ---- */

/* Matches times, dates and the numbers of repeats and jobs. Headings that differ only in
 * these parts describe the same setting. */
static const char left_out[] =
    "\\<(run|iteration|iter|repeat|repetition|rep|trial|round|attempt|pass|loop|test|"
    "sample|job|no\\.|i=)[ .:=#_-]*[0-9]+( *(/|of) *[0-9]+)?"
    "|#[0-9]+|[0-9]+ *(/|of) *[0-9]+|[0-9]+(st|nd|rd|th)\\>"
    "|^[0-9.]+$|^(real|user|sys)[ \t]+[0-9].*"
    "|[0-9]{4}-[0-9]{2}-[0-9]{2}T?|[0-9]{1,2}:[0-9]{2}(:[0-9.]+)?(Z|[+-][0-9:]+)?"
    "|\\<(mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    "\\>,? *([0-9]{1,2}\\>)?"
    "|\\<(utc|am|pm)\\>( *[0-9]{4})?";

/* Append a text's words to `out`, separated by single spaces. */
static void append_words(char out[HEADING_SIZE], const char *text, size_t len)
{
    static const char separators[] = " \t,#:()[]";
    size_t n = strlen(out);

    for (size_t i = 0; i < len && n + 2 < HEADING_SIZE; i++)
        if (!strchr(separators, text[i]))
            out[n++] = text[i];
        else if (n > 0 && out[n - 1] != ' ')
            out[n++] = ' ';
    out[n] = '\0';
}

/* Copy the text without the parts that match left_out. Headings with the same result
 * describe the same setting. */
static void key_of(const char *text, char out[HEADING_SIZE])
{
    regex_t pattern;
    bool has_pattern =
        *text && regcomp(&pattern, left_out, REG_EXTENDED | REG_ICASE) == 0;
    regmatch_t match;
    int flags = 0;
    size_t n;

    out[0] = '\0';
    while (has_pattern && regexec(&pattern, text, 1, &match, flags) == 0) {
        append_words(out, text, (size_t)match.rm_so);
        append_words(out, " ", 1);
        text += match.rm_eo;
        flags = REG_NOTBOL;
    }
    append_words(out, text, strlen(text));
    n = strlen(out);
    while (n > 0 && out[n - 1] == ' ')
        out[--n] = '\0';
    if (has_pattern)
        regfree(&pattern);
}

static bool says_something(const char *text, char key[HEADING_SIZE])
{
    key_of(text, key);
    for (const char *at = key; *at; at++)
        if (isalnum((unsigned char)*at))
            return true;
    key[0] = '\0';
    return false;
}

const char *heading_text(const struct heading *heading, char key[HEADING_SIZE],
                         bool *is_weak)
{
    *is_weak = false;
    if (says_something(heading->settings, key))
        return heading->settings;
    if (says_something(heading->title, key)) {
        *is_weak = heading->is_title_weak;
        return heading->title;
    }
    *is_weak = says_something(heading->last, key);
    return *is_weak ? heading->last : "";
}
