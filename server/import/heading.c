/* heading.c - lines between the tables of a file that say what the next one is of */
#include "server/import/heading.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LINE_MAX_BYTES 400
#define TITLE_MAX_BYTES 120

/* ---- settings ---- */

/* Variables of the job itself, which differ between repeats. */
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

/* "NCCL_ALGO=Ring": the length of its name; 0: it is none. */
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

/* Decorated, or with a colon at its end. */
static bool is_title(const char *line)
{
    static const char *const marks[] = {"==", "--", "**", "##", ">>", "~~", "++"};
    size_t len = strlen(line);

    if (len > TITLE_MAX_BYTES || !*undecorated(line))
        return false;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (strncmp(line, marks[i], 2) == 0)
            return true;
    return len > 1 && line[len - 1] == ':';
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

/* "Algorithm: Ring", and not "[node-1:4711] 3 more processes have sent a message". */
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
    bool has_settings = false;

    line += strspn(line, " \t");
    snprintf(copy, sizeof(copy), "%.*s", (int)sizeof(copy) - 1, line);
    len = strlen(copy);
    while (len > 0 && isspace((unsigned char)copy[len - 1]))
        copy[--len] = '\0';
    if (!*undecorated(copy))
        return;
    if (is_title(copy))
        set_title(heading, copy);
    else
        snprintf(heading->last, HEADING_SIZE, "%s", is_short(copy) ? copy : "");
    for (char *word = strtok_r(copy, " \t", &save); word;
         word = strtok_r(NULL, " \t", &save)) {
        word += strspn(word, "\"'`");
        if (!name_length(word))
            continue;
        /* A line with settings starts anew; the words of one line belong together. */
        if (!has_settings && strlen(heading->settings) > HEADING_SIZE / 2)
            heading->settings[0] = '\0';
        has_settings = true;
        add_setting(heading, word);
    }
}

/* ---- repeats ---- */

static bool is_word_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcasecmp(word, *words) == 0)
            return true;
    return false;
}

static bool is_number(const char *word)
{
    return *word && word[strspn(word, "0123456789/.")] == '\0';
}

static bool has_time(const char *text)
{
    for (; *text; text++)
        if (isdigit((unsigned char)text[0]) && isdigit((unsigned char)text[1]) &&
            text[2] == ':' && isdigit((unsigned char)text[3]))
            return true;
    return false;
}

/* The text without what numbers a repeat or tells the time. */
static void key_of(const char *text, char out[HEADING_SIZE])
{
    static const char *const repeats[] = {
        "run",     "iteration", "iter", "repeat", "repetition", "trial", "round",
        "attempt", "pass",      "loop", "no",     "no.",        NULL};
    static const char *const dates[] = {"mon", "tue", "wed", "thu", "fri", "sat",
                                        "sun", "jan", "feb", "mar", "apr", "may",
                                        "jun", "jul", "aug", "sep", "oct", "nov",
                                        "dec", "utc", "am",  "pm",  NULL};
    bool is_dated = has_time(text), is_counted = false;
    char copy[HEADING_SIZE], *save = NULL;
    size_t n = 0;

    snprintf(copy, sizeof(copy), "%s", text);
    out[0] = '\0';
    for (char *word = strtok_r(copy, " \t,#:", &save); word;
         word = strtok_r(NULL, " \t,#:", &save)) {
        bool is_repeat = is_word_of(word, repeats);
        bool is_left_out = is_repeat ||
                           (is_counted && (is_number(word) || strcmp(word, "of") == 0)) ||
                           (is_dated && (is_word_of(word, dates) || is_number(word) ||
                                         isdigit((unsigned char)word[0])));

        is_counted = is_repeat || (is_counted && is_left_out);
        if (!is_left_out)
            n += (size_t)snprintf(out + n, HEADING_SIZE - n, "%s%s", n ? " " : "", word);
    }
}

static bool says_something(const char *text)
{
    char key[HEADING_SIZE];

    key_of(text, key);
    for (const char *at = key; *at; at++)
        if (isalnum((unsigned char)*at))
            return true;
    return false;
}

const char *heading_text(const struct heading *heading, bool *is_weak)
{
    *is_weak = false;
    if (heading->settings[0])
        return heading->settings;
    if (says_something(heading->title))
        return heading->title;
    *is_weak = says_something(heading->last);
    return *is_weak ? heading->last : "";
}

bool heading_differs(const char *a, const char *b)
{
    char left[HEADING_SIZE], right[HEADING_SIZE];

    key_of(a, left);
    key_of(b, right);
    return strcmp(left, right) != 0;
}
