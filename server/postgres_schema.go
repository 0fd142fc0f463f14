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
`}
