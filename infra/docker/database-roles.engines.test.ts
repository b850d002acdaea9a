import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import pg from "pg";
import { type RunningPostgres, startPostgres } from "../engines/postgres/start-postgres.ts";

const services = ["account", "config", "images", "webhook_delivery", "webhook_ingest"];
const passwords: Record<string, string> = Object.fromEntries(
  ["migrate", "exporter", "backup", ...services].map((name) => [name, `the ${name}'s "password"`]),
);
let folder: string;
let server: RunningPostgres;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "signalbox-roles-"));
  server = await startPostgres({ folder, durable: false });
});
after(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

async function makeRoles(): Promise<void> {
  const { hostname, port, username, password } = new URL(server.url("postgres"));
  const named = Object.entries(passwords).map(([name, value]) => [`${name.toUpperCase()}_DATABASE_PASSWORD`, value]);
  const { stdout, stderr } = await promisify(execFile)("sh", [join(import.meta.dirname, "database-roles.sh")], {
    env: {
      PATH: "/usr/bin:/bin",
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: username,
      PGPASSWORD: password,
      ...Object.fromEntries(named),
    },
  });
  assert.deepEqual({ stdout, stderr }, { stdout: "", stderr: "" });
}

/** Runs statements in the database of a service, signed in by this name. */
async function as(name: string, service: string, ...statements: readonly string[]): Promise<unknown[]> {
  const url = new URL(server.url(`signalbox_${service}`));
  const client = new pg.Client({
    host: url.hostname,
    port: Number(url.port),
    database: `signalbox_${service}`,
    user: `signalbox_${name}`,
    password: passwords[name],
  });
  await client.connect();
  try {
    const rows: unknown[] = [];
    for (const statement of statements) rows.push(...(await client.query(statement)).rows);
    return rows;
  } finally {
    await client.end();
  }
}

async function administer(...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: server.url("postgres") });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

test("a service can only read or write rows of its own database", async () => {
  await makeRoles();
  for (const service of services) {
    await as("migrate", service, "create table kept (id serial primary key, name text)");
    const [row] = await as(service, service, "insert into kept (name) values ('a')", "select name from kept");
    assert.deepEqual(row, { name: "a" });
    const other = services.find((one) => one !== service) as string;
    await assert.rejects(as(service, other, "select 1"), /permission denied for database/);
    await assert.rejects(as(service, service, "create role more"), /permission denied/);
    for (const name of ["exporter", "backup"])
      await assert.rejects(as(name, service, "select 1"), /permission denied for database/);
  }
  for (const service of ["config", "images"]) {
    await assert.rejects(as(service, service, "create table more (id int)"), /permission denied for schema/);
    await assert.rejects(as(service, service, "drop table kept"), /must be owner of table/);
  }
});

test("a second run adds missing names without changing a password", async () => {
  await administer("drop database signalbox_images", "drop role signalbox_images", "drop role signalbox_images_owner");
  await administer("alter role signalbox_config password 'rotated'");
  await makeRoles();
  await as("migrate", "images", "create table kept (name text)");
  assert.deepEqual(await as("images", "images", "select name from kept"), []);
  assert.deepEqual(await as("account", "account", "select name from kept"), [{ name: "a" }]);
  passwords.config = "rotated";
  assert.deepEqual(await as("config", "config", "select name from kept"), [{ name: "a" }]);
});
