-- from 4
PRAGMA user_version = 5;
CREATE TEMP TABLE kept AS SELECT run, id, time_ms, type, body FROM events;
DROP TABLE events;
CREATE TABLE events ( run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, id INTEGER NOT NULL, time_ms INTEGER NOT NULL, type TEXT NOT NULL, body TEXT NOT NULL, samples BLOB, PRIMARY KEY (run, id));
INSERT INTO events SELECT *, NULL FROM kept;
DROP TABLE kept;
CREATE INDEX events_but_results ON events (run, type, id) WHERE type <> 'result';
