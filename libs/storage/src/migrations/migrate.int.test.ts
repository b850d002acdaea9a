import assert from "node:assert/strict";
import { createServer } from "node:net";
import { afterEach, beforeEach, it } from "node:test";
import type { MigrationList, SchemaEngine } from "@prisma/schema-engine-wasm";
import { eventually, startEngine, type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import pg from "pg";
import { migrationList } from "./authoring.ts";
import { migrate } from "./migrate.ts";
import { createMigrationFixture, type MigrationFixture } from "./migration-fixture.ts";
import { oldestVersion } from "./migration-history.ts";
import { withSchemaEngine } from "./schema-engine.ts";

const { log, logged } = testContext("account", {});
let fixture: MigrationFixture;
let database: TestDatabase;

const people = "create table people (id int primary key);";
const run = (options: { url?: string; waitMs?: number; apply?: boolean } = {}) =>
  migrate({
    url: database.url,
    service: "account",
    prismaDirectory: fixture.prismaDirectory,
    libraryMigrations: [fixture.library],
    log,
    ...options,
  });
const query = async (text: string, url = database.url) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return (await client.query(text).finally(() => client.end())).rows;
};
const applied = () => query("select migration_name from _prisma_migrations order by 1");

beforeEach(async () => {
  database = await testDatabase();
  fixture = await createMigrationFixture();
  await fixture.librarySql("0001_queue.sql", "create table signalbox.queue (id bigint primary key);");
  await fixture.prisma("20260101000000_people", people);
});
afterEach(async () => {
  await fixture.remove();
  await database.close();
});

it("applies libraries, then the service, each file once", async () => {
  await fixture.prisma("20260102000000_link", "alter table people add queued bigint references signalbox.queue (id);");
  await run();
  await run();
  assert.deepEqual(await applied(), [
    { migration_name: "20260101000000_people" },
    { migration_name: "20260102000000_link" },
  ]);
  assert.deepEqual(await query("select library, name from signalbox.library_migrations"), [
    { library: "example", name: "0001_queue.sql" },
  ]);
});

it("creates a database that is absent, with several instances starting together", async () => {
  const url = database.url.replace(database.name, `${database.name}_fresh`);
  try {
    await Promise.all(Array.from({ length: 6 }, () => run({ url })));
    assert.equal((await query("select * from _prisma_migrations", url)).length, 1);
    assert.deepEqual(await query("select * from people", url), []);
  } finally {
    await query(`drop database ${database.name}_fresh with (force)`);
  }
});

it("leaves nothing of a migration that fails, naming file and line, until it is repaired", async () => {
  const name = "20260102000000_broken";
  await fixture.prisma(name, "create table half (id int);\ninsert into half values (1);\nselect nothing_there;\n");
  await assert.rejects(run(), {
    name: "MigrationError",
    message: /20260102000000_broken of service account failed: column "nothing_there" does not exist \(line 3\)/,
  });
  assert.deepEqual(await query("select to_regclass('half') as half"), [{ half: null }]);
  await fixture.prisma(name, "create table whole (id int);");
  await run();
  assert.equal((await applied()).length, 2);
});

it("a connection lost midway undoes the migration, which the next start repeats", async () => {
  const name = "20260102000000_interrupted";
  await fixture.prisma(name, "create table half (id int); select pg_terminate_backend(pg_backend_pid());");
  await assert.rejects(run(), { name: "MigrationError", message: /20260102000000_interrupted/ });
  assert.deepEqual(await query("select to_regclass('half') as half"), [{ half: null }]);
  await fixture.prisma(name, "create table half (id int);");
  await run();
  assert.equal((await applied()).length, 2);
});

it("starts on a database expanded by a newer version, applying what it lacks itself", async () => {
  await fixture.prisma("20270101000000_future", "-- signalbox: expand\nalter table people add name text;");
  await fixture.librarySql("0002_more.sql", "-- signalbox: expand\nalter table signalbox.queue add more text;");
  await run();
  await fixture.forget("20270101000000_future");
  await fixture.forgetLibrarySql("0002_more.sql");
  await run();
  await fixture.prisma("20260102000000_other", "create table other (id int);");
  await run();
  assert.deepEqual(await query("select to_regclass('other')::text as other"), [{ other: "other" }]);
});

for (const [said, first] of [
  ["declared a contraction", "-- signalbox: contract\n"],
  ["did not declare", ""],
] as const) {
  it(`refuses a database where a newer version has run what it ${said}, changing nothing`, async () => {
    await fixture.prisma("20270101000000_future", `${first}alter table people drop id;`);
    await run();
    await fixture.forget("20270101000000_future");
    await fixture.prisma("20260102000000_other", "create table other (id int);");
    await assert.rejects(run(), {
      name: "MigrationError",
      message: /migrated by a newer version of service account, .*: it has 20270101000000_future/,
    });
    assert.deepEqual(await query("select to_regclass('other') as other"), [{ other: null }]);
  });
}

for (const [owner, forget] of [
  ["a service", () => fixture.forget("20260101000000_people")],
  ["a library", () => fixture.forgetLibrarySql("0001_queue.sql")],
] as const) {
  it(`refuses a database that has a migration from before the first one of ${owner}, changing nothing`, async () => {
    await run();
    await forget();
    await fixture.prisma("20260201000000_initial", "create table initial (id int);");
    await fixture.librarySql("0010_initial.sql", "create table signalbox.initial (id int);");
    await assert.rejects(run(), {
      message:
        `database ${database.name} was made by a version before ${oldestVersion}, which cannot be upgraded: start with an ` +
        "empty database, or with the version that created this one.",
    });
    assert.deepEqual(await query("select to_regclass('initial') as a, to_regclass('signalbox.initial') as b"), [
      { a: null, b: null },
    ]);
  });
}

it("waits where a job applies migrations, until the job is done", async () => {
  await query("create schema signalbox");
  const waiting = run({ apply: false });
  await eventually(() => logged.some(({ msg }) => /by the job `migrate`/.test(String(msg))));
  assert.deepEqual(await query("select to_regclass('people') as people"), [{ people: null }]);
  await run();
  await waiting;
  await run({ apply: false, waitMs: 0 });
  await fixture.prisma("20260102000000_name", "alter table people add name text;");
  await assert.rejects(run({ apply: false, waitMs: 0 }), { message: /was not migrated .* run the job `migrate`/ });
});

it("gives way to a session that holds a lock until that has ended", async () => {
  await run();
  await fixture.prisma("20260102000000_name", "-- signalbox: expand\nalter table people add name text;");
  const reader = new pg.Client({ connectionString: database.url });
  await reader.connect();
  try {
    await reader.query("begin; select * from people");
    const waiting = run();
    await eventually(() => logged.some(({ msg }) => msg === "a migration timed out on a lock and will be retried"));
    await query("insert into people values (7)"); // a writer is blocked for one try at most
    await reader.query("commit");
    await waiting;
    assert.deepEqual(await query("select * from people"), [{ id: 7, name: null }]);
  } finally {
    await reader.end();
  }
});

it("gives up a lock that is not given back, naming the property", async () => {
  await run();
  await fixture.prisma("20260102000000_name", "alter table people add name text;");
  const reader = new pg.Client({ connectionString: database.url });
  await reader.connect();
  try {
    await reader.query("begin; select * from people");
    await assert.rejects(run({ waitMs: 0 }), {
      name: "MigrationError",
      message: /20260102000000_name .*lock timeout.* raise database\.start-wait$/,
    });
  } finally {
    await reader.end();
  }
});

const indexOfNames = "-- signalbox: expand concurrently\ncreate index concurrently people_name on people (name);\n";

it("builds an index while a transaction that writes to its table is open", async () => {
  await fixture.prisma("20260102000000_name", "alter table people add name text;");
  await run();
  await fixture.prisma("20260103000000_people_name", indexOfNames);
  const writer = new pg.Client({ connectionString: database.url });
  await writer.connect();
  try {
    await writer.query("begin; insert into people values (1, 'Ada')");
    const building = run();
    await eventually(async () => (await query("select to_regclass('people_name') is not null as there"))[0].there);
    await writer.query("insert into people values (2, 'Grace'); commit");
    await building;
    assert.deepEqual(await query("select indisvalid from pg_index where indexrelid = 'people_name'::regclass"), [
      { indisvalid: true },
    ]);
    assert.equal((await applied()).length, 3);
  } finally {
    await writer.end();
  }
});

it("builds an index anew that an interrupted build has left invalid", async () => {
  await fixture.prisma("20260102000000_name", "alter table people add name text;");
  await run();
  await query("insert into people values (1, 'Ada'), (2, 'Ada')");
  await assert.rejects(query("create unique index concurrently people_name on people (name)"), { code: "23505" });
  await fixture.prisma("20260103000000_people_name", indexOfNames);
  await run();
  assert.deepEqual(await query("select indisvalid from pg_index where indexrelid = 'people_name'::regclass"), [
    { indisvalid: true },
  ]);
});

it("refuses a concurrent migration of more than one statement", async () => {
  await fixture.prisma("20260103000000_two", `${indexOfNames}create index concurrently two on people (id);`);
  await assert.rejects(run(), { name: "MigrationError", message: /20260103000000_two .*holds one statement/ });
});

it("refuses an applied file that was changed since, of a service or a library", async () => {
  await run();
  await fixture.prisma("20260101000000_people", `${people} -- changed`);
  await assert.rejects(run(), {
    name: "MigrationError",
    message: /20260101000000_people of service account was changed/,
  });
  await fixture.prisma("20260101000000_people", people);
  await fixture.librarySql("0001_queue.sql", "create table signalbox.queue (id int primary key);");
  await assert.rejects(run(), { name: "MigrationError", message: /0001_queue.sql of library example was changed/ });
});

it("refuses a database where another tool left a migration half done", async () => {
  await run();
  await query("insert into _prisma_migrations (id, checksum, migration_name) values ('1', 'x', '20260102000000_half')");
  await assert.rejects(run(), { name: "MigrationError", message: /20260102000000_half .*`prisma migrate resolve`/ });
});

it("Prisma's own engine reads our history as its own, and we read what it has recorded", async (test) => {
  const schema = { path: "schema.prisma", content: 'datasource db {\n provider = "postgresql"\n}\n' };
  const inPrisma = async <T>(work: (engine: SchemaEngine, migrationsList: MigrationList) => Promise<T>) =>
    withSchemaEngine(database.url, schema, async (engine) =>
      work(engine, await migrationList(fixture.prismaDirectory)),
    );
  const filters = { externalTables: [], externalEnums: [] };
  const diagnose = () =>
    inPrisma((engine, migrationsList) =>
      engine.diagnoseMigrationHistory({ migrationsList, filters, optInToShadowDatabase: false }),
    );

  await run();
  const { history, failedMigrationNames, editedMigrationNames, hasMigrationsTable } = await diagnose();
  assert.deepEqual([history, failedMigrationNames, editedMigrationNames, hasMigrationsTable], [null, [], [], true]);

  await fixture.prisma("20260102000000_more", "create table more (id int);");
  await query("create table more (id int)");
  const migrationName = "20260102000000_more";
  test.mock.timers.enable({ apis: ["setTimeout"] }); // the engine leaves a timer of 10 s, which would keep the process alive
  await inPrisma((engine, migrationsList) => engine.markMigrationApplied({ migrationName, migrationsList }));
  test.mock.timers.reset();
  await run();
  assert.equal((await applied()).length, 2);
});

it("waits for an engine that is not there yet, saying so", async () => {
  const engine = await startEngine("postgres");
  try {
    await engine.kill();
    const waiting = run({ url: engine.url, waitMs: 60_000 });
    const saysSo = () => logged.some((line) => /waiting for PostgreSQL at 127\.0\.0\.1/.test(String(line.msg)));
    await eventually(saysSo);
    await engine.restart();
    await waiting;
  } finally {
    await engine.close();
  }
});

it("gives up an engine that stays away, naming it and what to correct", async () => {
  const url = `postgres://user:hidden@127.0.0.1:${await closedPort()}/nothing`;
  await assert.rejects(run({ url, waitMs: 300 }), (error: Error) => {
    assert.match(error.message, /PostgreSQL at 127\.0\.0\.1:\d+ did not answer within 0\.3 s .* correct database\.url/);
    assert.doesNotMatch(error.message, /hidden/);
    return true;
  });
});

it("does not wait for an engine that refuses the password", async () => {
  const url = new URL(database.url);
  url.password = "wrong";
  await assert.rejects(run({ url: url.href }), {
    name: "MigrationError",
    message: /refused the connection: .*password/,
  });
});

it("takes no lock when there is nothing to do, so that a start never waits for another's migration", async () => {
  await run();
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  try {
    await other.query("select pg_advisory_lock(72707369)");
    await run();
  } finally {
    await other.end();
  }
});

it("names who holds the lock of migrations while it waits for it", async () => {
  const other = new pg.Client({ connectionString: database.url, application_name: "a slow migration" });
  await other.connect();
  await other.query("select pg_advisory_lock(72707369)");
  const holder = /^"a slow migration" from (127\.0\.0\.1|a local socket), server process \d+, connected for \d+ s$/;
  try {
    const waiting = run();
    await eventually(() =>
      logged.some(
        ({ msg, holder: named }) =>
          msg === "waiting for the migration of another process" && holder.test(String(named)),
      ),
    );
    await other.end();
    await waiting;
    assert.equal((await applied()).length, 1);
  } finally {
    await other.end();
  }
});

it("gives up a lock of migrations that is not given back, naming its holder and the property", async () => {
  const other = new pg.Client({ connectionString: database.url, application_name: "a stuck migration" });
  await other.connect();
  try {
    await other.query("select pg_advisory_lock(72707369)");
    await assert.rejects(run({ waitMs: 300 }), {
      name: "MigrationError",
      message:
        /has been locked for migration by another process .* \("a stuck migration" .*\): .* or raise database\.start-wait$/,
    });
  } finally {
    await other.end();
  }
});

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
