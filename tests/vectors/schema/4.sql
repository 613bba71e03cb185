-- from 3
PRAGMA user_version = 4;
CREATE TABLE run_cases ( run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, case_no INTEGER NOT NULL, doc TEXT NOT NULL, PRIMARY KEY (run, case_no));
INSERT INTO run_cases SELECT id, 0, json_extract(doc, '$.cases[0]') FROM runs;
UPDATE runs SET doc = json_set(doc, '$.cases', json('[]'));
