/* store_upgrade.c - what bringing a database up to date says while it goes on */
#include "server/store/store_upgrade.h"

#include <stdio.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/notify.h"

#define EVERY_NS INT64_C(5000000000)
#define WATCH_STEPS 100000 /* of SQLite's machine: some milliseconds */

/* systemd waits for as long again as may pass until it hears the next. */
static void say(const char *text)
{
    char lines[300];

    log_info("%s", text);
    snprintf(lines, sizeof(lines), "STATUS=%s\nEXTEND_TIMEOUT_USEC=60000000", text);
    notify(lines);
}

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static int on_steps(void *arg)
{
    store_upgrade_tick(arg, clock_monotonic_ns());
    return 0;
}

void store_upgrade_watch(struct store_upgrade *upgrade, sqlite3 *db)
{
    upgrade->db = db;
    sqlite3_progress_handler(db, WATCH_STEPS, on_steps, upgrade);
}

void store_upgrade_begin(struct store_upgrade *upgrade, int from, int to)
{
    char text[200];

    upgrade->began_ns = clock_monotonic_ns();
    upgrade->next_ns = upgrade->began_ns + EVERY_NS;
    snprintf(text, sizeof(text),
             "upgrading the database from schema version %d to %d; requests are served "
             "afterwards",
             from, to);
    say(text);
}

void store_upgrade_tick(struct store_upgrade *upgrade, int64_t now_ns)
{
    double spent = seconds(now_ns - upgrade->began_ns);
    char text[200];

    if (upgrade->next_ns == 0 || now_ns < upgrade->next_ns)
        return;
    upgrade->next_ns = now_ns + EVERY_NS;
    if (upgrade->done > 0)
        snprintf(text, sizeof(text),
                 "upgrading the database: %lld of %lld results after %.0f s, "
                 "some %.0f s more",
                 (long long)upgrade->done, (long long)upgrade->total, spent,
                 spent * (double)(upgrade->total - upgrade->done) /
                     (double)upgrade->done);
    else
        snprintf(text, sizeof(text),
                 "upgrading the database: changing its tables for %.0f s", spent);
    say(text);
}

void store_upgrade_end(struct store_upgrade *upgrade, bool is_whole)
{
    sqlite3_progress_handler(upgrade->db, 0, NULL, NULL);
    if (is_whole && upgrade->next_ns > 0)
        log_info("the database is up to date after %.1f s",
                 seconds(clock_monotonic_ns() - upgrade->began_ns));
}
