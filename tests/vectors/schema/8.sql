-- from 7
PRAGMA user_version = 8;
CREATE TEMP TABLE kept AS SELECT id, state, name, created_ms, labels, doc FROM runs;
DROP TABLE runs;
CREATE TABLE runs ( id TEXT NOT NULL PRIMARY KEY, state TEXT NOT NULL, name TEXT NOT NULL, created_ms INTEGER NOT NULL, labels TEXT NOT NULL, doc TEXT NOT NULL, duration_ms INTEGER AS (CASE WHEN json_valid(doc) THEN CAST(round(86400000.0 * (julianday(json_extract(doc, '$.ended')) - julianday(json_extract(doc, '$.started')))) AS INTEGER) END) VIRTUAL, figure_micro INTEGER AS (CASE WHEN json_valid(doc) THEN CAST(round(1e6 * coalesce(json_extract(doc, '$.summary.headline.value'), json_extract(doc, '$.summary.headline.busbw_gbs'))) AS INTEGER) END) VIRTUAL, suspects TEXT AS (CASE WHEN json_valid(doc) THEN json_extract(doc, '$.suspects') END) VIRTUAL, answers TEXT AS (CASE WHEN json_valid(doc) AND coalesce(json_extract(doc, '$.verdict'), json_extract(doc, '$.culprit'), json_extract(doc, '$.lateness'), json_extract(doc, '$.hang')) IS NOT NULL THEN json_array(json_extract(doc, '$.verdict.answer'), json_extract(doc, '$.culprit.answer'), json_extract(doc, '$.lateness.answer'), json_extract(doc, '$.hang.answer')) END) VIRTUAL);
INSERT INTO runs SELECT * FROM kept;
DROP TABLE kept;
CREATE UNIQUE INDEX runs_by_created ON runs (created_ms, id, state, name, labels);
CREATE INDEX runs_by_duration ON runs (duration_ms, id, created_ms, state, name, labels) WHERE duration_ms IS NOT NULL;
CREATE INDEX runs_by_figure ON runs (figure_micro, id, created_ms, state, name, labels) WHERE figure_micro IS NOT NULL;
CREATE INDEX runs_by_suspects ON runs (id, suspects) WHERE suspects IS NOT NULL;
CREATE INDEX runs_by_answers ON runs (id, answers) WHERE answers IS NOT NULL;
UPDATE runs SET doc = json_set(doc, '$.spec.preflight', 'warn',
 '$.machines[0].system', json('{"os":"Debian GNU/Linux 12 (bookworm)","iommu":"off","numa_balancing":0,"net":"1 x ethernet up, MTU 1400, virtio_net","limits.open_files":20000,"limits.memlock_bytes":8388608}'),
 '$.preflight', json('{"kind":"preflight","answer":"ok","sentence":"no finding: 2 checks are well, 3 could not be evaluated","evidence":{"backend":"host","ok":2,"not_evaluated":3,"checks":[]}}'),
 '$.ceiling', json('{"kind":"ceiling","answer":"not_enough_data","sentence":"what the links allow is not known: nothing has measured what the node''s memory can do","evidence":{}}'));
UPDATE events SET body = json_set(body, '$.machines[0].system', json_extract(doc, '$.machines[0].system'),
 '$.preflight', json_extract(doc, '$.preflight'), '$.ceiling', json_extract(doc, '$.ceiling'))
 FROM runs WHERE type = 'placed';
