import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { promisify } from "node:util";
import { type TestDatabase, testDatabase } from "@signalbox/testing";
import pg from "pg";
import { schemaDifference } from "./authoring.ts";
import { createMigrationFixture, type MigrationFixture } from "./migration-fixture.ts";

let fixture: MigrationFixture;
let database: TestDatabase;
const person =
  "model Person {\n  id String @id\n  name String\n  createdAt DateTime @default(now()) @db.Timestamptz(3)\n}\n";
const diff = (...more: string[]) =>
  promisify(execFile)(process.execPath, [
    join(import.meta.dirname, "../migrate-cli.ts"),
    ...["diff", fixture.prismaDirectory, "--database-url", database.url, ...more],
  ]);

beforeEach(async () => {
  database = await testDatabase();
  fixture = await createMigrationFixture();
  await fixture.schema(person);
});
afterEach(async () => {
  await fixture.remove();
  await database.close();
});

it("writes each migration that leads to the schema, until nothing is left to write", async () => {
  const first = await diff("--name", "initial");
  const path = /Wrote (\S+migration\.sql)/.exec(first.stdout)?.[1] ?? "";
  assert.match(await readFile(path, "utf8"), /CREATE TABLE "Person"/);
  assert.match((await diff("--name", "again")).stdout, /nothing to write/);
  await fixture.schema(person.replace("name String", "name String\n  nick String?"));
  assert.equal((await schemaDifference(fixture.prismaDirectory, database.url)).includes('ADD COLUMN     "nick"'), true);
});

it("shows the difference only when a migration is forgotten", async () => {
  assert.match(await schemaDifference(fixture.prismaDirectory, database.url), /CREATE TABLE "Person"/);
  await diff("--name", "initial");
  assert.equal(await schemaDifference(fixture.prismaDirectory, database.url), "");
});

it("builds in public, also after a migration that makes a schema with the name of the role", async () => {
  await fixture.prisma("20250101000000_schema", "create schema if not exists authorization current_user;");
  await diff("--name", "initial");
  assert.equal(await schemaDifference(fixture.prismaDirectory, database.url), "");
});

it("understands functions in a migration, leaving no trace in database or engine", async () => {
  const body = "create function one() returns int language plpgsql as $$ begin return 1; end; $$;";
  await diff("--name", "initial");
  await fixture.prisma("29990101000000_function", body);
  assert.equal(await schemaDifference(fixture.prismaDirectory, database.url), "");
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const tables = await client.query("select 1 from pg_tables where schemaname = 'public'");
  const shadows = await client.query("select datname from pg_database where starts_with(datname, $1)", [
    `${database.name}_shadow`,
  ]);
  await client.end();
  assert.deepEqual([tables.rowCount, shadows.rowCount], [0, 0]);
});

it("says how it is used when something is missing", async () => {
  await assert.rejects(diff("--name", "Not A Slug"), { code: 2 });
});
