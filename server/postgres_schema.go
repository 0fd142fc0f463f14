package main

// The schema of PostgreSQL, one step for each version, with the tables of sqlite.go. A released step is never changed:
// a later one is added.
var postgresSteps = []string{`
CREATE TABLE machsym_schema(version INTEGER NOT NULL);
INSERT INTO machsym_schema VALUES(0);
CREATE TABLE report(
    number   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project  TEXT NOT NULL,
    id       BYTEA NOT NULL,               -- SHA-256 of the bytes that were sent
    received BIGINT NOT NULL,              -- milliseconds since 1970 on the database's clock, as all times here
    state    SMALLINT NOT NULL DEFAULT 0,
    since    BIGINT NOT NULL,              -- when it began to wait
    lease    BIGINT NOT NULL DEFAULT 0,    -- who works on it
    holder   TEXT NOT NULL DEFAULT '',     -- the folder of the server that has or had the lease
    until    BIGINT NOT NULL DEFAULT 0,    -- when the lease ends
    deaths   INTEGER NOT NULL DEFAULT 0,   -- workers that it ended
    reason   TEXT NOT NULL DEFAULT '',
    grp      TEXT NOT NULL DEFAULT '',
    UNIQUE(project, id));
CREATE INDEX report_state ON report(state, project, number);
CREATE INDEX report_since ON report(since) WHERE state < 2;
CREATE INDEX report_until ON report(until) WHERE state = 1;
CREATE INDEX report_group ON report(project, grp, received) WHERE grp <> '';
CREATE INDEX report_received ON report(project, received);
CREATE TABLE body(
    number BIGINT PRIMARY KEY REFERENCES report ON DELETE CASCADE,
    body   BYTEA NOT NULL);                -- compressed
CREATE TABLE result(                       -- the newest one
    number BIGINT PRIMARY KEY REFERENCES report ON DELETE CASCADE,
    answer BYTEA NOT NULL);                -- compressed
ALTER TABLE body ALTER body SET STORAGE EXTERNAL;
ALTER TABLE result ALTER answer SET STORAGE EXTERNAL;
CREATE TABLE grp(hash TEXT PRIMARY KEY, title TEXT NOT NULL);
CREATE TABLE image(
    image  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uuid   BYTEA NOT NULL UNIQUE,
    name   TEXT NOT NULL,
    others BOOLEAN NOT NULL DEFAULT false); -- some report has it in others
CREATE TABLE uses(
    number  BIGINT NOT NULL REFERENCES report ON DELETE CASCADE,
    image   BIGINT NOT NULL REFERENCES image,
    missing BOOLEAN NOT NULL,
    PRIMARY KEY(number, image));
CREATE INDEX uses_image ON uses(image, number);
CREATE INDEX uses_missing ON uses(image, number) WHERE missing;
CREATE TABLE others(                       -- used images that need no symbols: most of them, of the system
    number BIGINT PRIMARY KEY REFERENCES report ON DELETE CASCADE,
    images BIGINT[] NOT NULL);
CREATE TABLE symbol(uuid BYTEA PRIMARY KEY, generation BIGINT NOT NULL);
CREATE INDEX symbol_generation ON symbol(generation);
CREATE TABLE upload(                       -- begun, and not yet in the store for sure
    holder TEXT NOT NULL,
    name   TEXT NOT NULL,
    PRIMARY KEY(holder, name));
CREATE TABLE meta(generation BIGINT NOT NULL);
INSERT INTO meta VALUES(0);
CREATE TABLE token(hash TEXT PRIMARY KEY, role TEXT NOT NULL, project TEXT NOT NULL);
CREATE TABLE project(
    name      TEXT PRIMARY KEY,
    keep_days BIGINT NOT NULL,
    quota     BIGINT NOT NULL,
    redact    BOOLEAN NOT NULL);
CREATE TABLE usage(
    project TEXT NOT NULL,
    day     BIGINT NOT NULL,               -- since 1970
    slot    INTEGER NOT NULL,              -- several rows count, because a row has one writer at a time
    count   BIGINT NOT NULL,               -- of new reports
    PRIMARY KEY(project, day, slot));
`, `
-- Work in a narrow table of its own: a report's row and its five indexes are written once. Tables by the day on which reports leave.
CREATE TABLE work(                         -- reports that wait, or are in work
    number  BIGINT PRIMARY KEY,
    project TEXT NOT NULL,
    leaves  INTEGER NOT NULL,              -- as in report
    since   BIGINT NOT NULL,               -- when it began to wait
    again   BOOLEAN NOT NULL,              -- it has had a result
    lease   BIGINT NOT NULL DEFAULT 0,     -- who works on it
    holder  TEXT NOT NULL DEFAULT '',      -- the folder of the server that has or had the lease
    until   BIGINT NOT NULL DEFAULT 0)     -- when the lease ends. No index has it: a lease writes one small row
    WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);
INSERT INTO work SELECT number, project, 2147483647, since, EXISTS(SELECT 1 FROM result WHERE result.number = report.number),
    CASE state WHEN 1 THEN lease ELSE 0 END, holder, CASE state WHEN 1 THEN until ELSE 0 END FROM report WHERE state < 2;
CREATE INDEX work_next ON work(project, number);
CREATE INDEX work_since ON work(since);
ALTER TABLE body DROP CONSTRAINT body_number_fkey, DROP CONSTRAINT body_pkey;
ALTER TABLE body RENAME TO body_never;
ALTER TABLE body_never ADD COLUMN leaves INTEGER NOT NULL DEFAULT 2147483647;
CREATE TABLE body(
    number BIGINT NOT NULL,
    leaves INTEGER NOT NULL,
    body   BYTEA NOT NULL,                 -- compressed
    PRIMARY KEY(number, leaves)) PARTITION BY LIST(leaves);
ALTER TABLE body ALTER body SET STORAGE EXTERNAL;
ALTER TABLE body ATTACH PARTITION body_never FOR VALUES IN (2147483647);
ALTER TABLE result DROP CONSTRAINT result_number_fkey, DROP CONSTRAINT result_pkey;
ALTER TABLE result RENAME TO result_1;
CREATE TABLE result(                       -- the newest one
    number   BIGINT NOT NULL,
    leaves   INTEGER NOT NULL,
    project  TEXT NOT NULL,
    grp      TEXT NOT NULL,
    received BIGINT NOT NULL,
    answer   BYTEA,                        -- compressed; NULL: it must not be told any longer
    PRIMARY KEY(number, leaves)) PARTITION BY LIST(leaves);
ALTER TABLE result ALTER answer SET STORAGE EXTERNAL;
CREATE TABLE result_never PARTITION OF result FOR VALUES IN (2147483647);
INSERT INTO result SELECT number, 2147483647, project, grp, received, answer FROM report LEFT JOIN result_1 USING(number)
    WHERE answer IS NOT NULL OR grp <> '';
DROP TABLE result_1;
CREATE INDEX result_group ON result(project, grp, received) WHERE grp <> '';
ALTER TABLE uses DROP CONSTRAINT uses_number_fkey, DROP CONSTRAINT uses_image_fkey, DROP CONSTRAINT uses_pkey;
DROP INDEX uses_image, uses_missing;
ALTER TABLE uses RENAME TO uses_never;
ALTER TABLE uses_never ADD COLUMN leaves INTEGER NOT NULL DEFAULT 2147483647;
CREATE TABLE uses(
    number  BIGINT NOT NULL,
    leaves  INTEGER NOT NULL,
    image   BIGINT NOT NULL,
    missing BOOLEAN NOT NULL,
    PRIMARY KEY(number, leaves, image)) PARTITION BY LIST(leaves);
ALTER TABLE uses ATTACH PARTITION uses_never FOR VALUES IN (2147483647);
CREATE INDEX uses_image ON uses(image, number);
CREATE INDEX uses_missing ON uses(image, number) WHERE missing;
ALTER TABLE others DROP CONSTRAINT others_number_fkey, DROP CONSTRAINT others_pkey;
ALTER TABLE others RENAME TO others_never;
ALTER TABLE others_never ADD COLUMN leaves INTEGER NOT NULL DEFAULT 2147483647;
CREATE TABLE others(                       -- used images that need no symbols: most of them, of the system
    number BIGINT NOT NULL,
    leaves INTEGER NOT NULL,
    images BIGINT[] NOT NULL,
    PRIMARY KEY(number, leaves)) PARTITION BY LIST(leaves);
ALTER TABLE others ATTACH PARTITION others_never FOR VALUES IN (2147483647);
ALTER TABLE report ADD COLUMN failed BOOLEAN NOT NULL DEFAULT false; -- the reason says why
UPDATE report SET failed = true WHERE state = 3;
ALTER TABLE report DROP COLUMN state, DROP COLUMN since, DROP COLUMN lease, DROP COLUMN holder, DROP COLUMN until, DROP COLUMN grp;
ALTER TABLE report ADD COLUMN leaves INTEGER NOT NULL DEFAULT 2147483647; -- day since 1970 on which it leaves; this one: it stays
CREATE INDEX report_leaves ON report(leaves) WHERE leaves < 2147483647;
CREATE INDEX report_failed ON report(project, number) WHERE failed;
CREATE TABLE tally(                        -- of reports; several rows count, because a row has one writer at a time
    slot    INTEGER PRIMARY KEY,
    reports BIGINT NOT NULL) WITH (fillfactor = 10);
INSERT INTO tally SELECT slot, CASE slot WHEN 0 THEN (SELECT count(*) FROM report) ELSE 0 END FROM generate_series(0, 15) AS slot;
`, `
CREATE TABLE audit(                        -- who did what
    number  BIGINT GENERATED ALWAYS AS IDENTITY,
    time    BIGINT NOT NULL,
    project TEXT NOT NULL,
    token   TEXT NOT NULL,                 -- its name
    address TEXT NOT NULL,
    action  TEXT NOT NULL,
    object  TEXT NOT NULL);
CREATE INDEX audit_project ON audit(project, time, number);
CREATE INDEX audit_time ON audit USING brin(time); -- for its retention; a row costs nearly nothing there
ALTER TABLE token ADD COLUMN name TEXT NOT NULL DEFAULT '';
UPDATE token SET name = substr(hash, 1, 8);
ALTER TABLE upload ADD COLUMN project TEXT NOT NULL DEFAULT '', ADD COLUMN token TEXT NOT NULL DEFAULT '', ADD COLUMN address TEXT NOT NULL DEFAULT '';
`, `
ALTER TABLE others ADD COLUMN people BIGINT[]; -- people.go; NULL: not known yet
ALTER TABLE meta ADD COLUMN secret BYTEA;
UPDATE meta SET secret = uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
CREATE TABLE forgotten(                    -- people whose reports were deleted: those without a result then are deleted when they have one
    project TEXT NOT NULL,
    person  BIGINT NOT NULL,
    time    BIGINT NOT NULL,               -- reports that came later stay
    PRIMARY KEY(project, person));
`}
