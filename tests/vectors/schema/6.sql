-- from 5
PRAGMA user_version = 6;
CREATE TEMP TABLE kept AS SELECT id, state, name, created_ms, labels, doc FROM runs;
DROP TABLE runs;
CREATE TABLE runs ( id TEXT NOT NULL PRIMARY KEY, state TEXT NOT NULL, name TEXT NOT NULL, created_ms INTEGER NOT NULL, labels TEXT NOT NULL, doc TEXT NOT NULL, duration_ms INTEGER AS (CASE WHEN json_valid(doc) THEN CAST(round(86400000.0 * (julianday(json_extract(doc, '$.ended')) - julianday(json_extract(doc, '$.started')))) AS INTEGER) END) VIRTUAL, figure_micro INTEGER AS (CASE WHEN json_valid(doc) THEN CAST(round(1e6 * coalesce(json_extract(doc, '$.summary.headline.value'), json_extract(doc, '$.summary.headline.busbw_gbs'))) AS INTEGER) END) VIRTUAL);
INSERT INTO runs SELECT * FROM kept;
DROP TABLE kept;
CREATE UNIQUE INDEX runs_by_created ON runs (created_ms, id, state, name, labels);
CREATE INDEX runs_by_duration ON runs (duration_ms, id, created_ms, state, name, labels) WHERE duration_ms IS NOT NULL;
CREATE INDEX runs_by_figure ON runs (figure_micro, id, created_ms, state, name, labels) WHERE figure_micro IS NOT NULL;
UPDATE runs SET doc = json_set(doc, '$.spec.pattern', 'all', '$.spec.concurrent', json('true'), '$.summary.headline.text', '0.0115 GB/s at 16');
