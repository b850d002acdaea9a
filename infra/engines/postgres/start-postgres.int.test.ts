import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startProcess, type TestProcess } from "@signalbox/testing";
import pg from "pg";
import { enginesFolder } from "../engine-folders.ts";
import { processIdentity } from "../processes.ts";
import { startPostgres } from "./start-postgres.ts";

const starter = join(import.meta.dirname, "postgres-starter.fixture.ts");
const folders: string[] = [];
after(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function freshFolder(): Promise<string> {
  const parent = join(enginesFolder, "own");
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, "product-"));
  // mkdtemp makes a folder for us alone; the server may run under another account.
  await chmod(folder, 0o755);
  folders.push(folder);
  return folder;
}

async function start(folder: string): Promise<{ child: TestProcess; pid: number; attached: boolean; url: string }> {
  const child = startProcess(starter, [folder], {}, { ownGroup: true });
  const [, pid, attached, url] = await child.waitForOutput(/ready pid=(\d+) attached=(\w+) url=(\S+)/);
  return { child, pid: Number(pid), attached: attached === "true", url: url as string };
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

for (const [how, send] of [
  ["Ctrl-C to the whole process group", (child: TestProcess) => child.signalGroup("SIGINT")],
  ["SIGTERM", (child: TestProcess) => child.signal("SIGTERM")],
] as const) {
  test(`${how} leaves the database to the drain and stops it as the last thing`, async () => {
    const { child, pid } = await start(await freshFolder());
    send(child);
    assert.deepEqual(await child.exited, { code: 0, signal: null });
    assert.match(child.stdout, /database answers: true\nstopped\n$/);
    assert.equal(await processIdentity(pid), null);
  });
}

test("after kill -9 the next start takes over the running server with its data", async () => {
  const folder = await freshFolder();
  const killed = await start(folder);
  await query(killed.url, "CREATE TABLE kept AS SELECT 42 AS answer");
  await killed.child.kill();
  const next = await start(folder);
  assert.equal(next.attached, true);
  assert.equal(next.pid, killed.pid);
  assert.deepEqual(await query(next.url, "SELECT answer FROM kept"), [{ answer: 42 }]);
  next.child.signal("SIGTERM");
  assert.equal((await next.child.exited).code, 0);
});

test("after kill -9 of starter and server the next start recovers the data", async () => {
  const folder = await freshFolder();
  const killed = await start(folder);
  await query(killed.url, "CREATE TABLE kept AS SELECT 42 AS answer");
  await killed.child.kill();
  process.kill(killed.pid, "SIGKILL");
  const next = await start(folder);
  assert.equal(next.attached, false);
  assert.deepEqual(await query(next.url, "SELECT answer FROM kept"), [{ answer: 42 }]);
  next.child.signal("SIGTERM");
  assert.equal((await next.child.exited).code, 0);
});

test("a second process is refused while the first one lives", async () => {
  const folder = await freshFolder();
  const first = await start(folder);
  const second = startProcess(starter, [folder]);
  assert.equal((await second.exited).code, 1);
  assert.match(second.stderr, new RegExp(`is in use by the process ${first.child.pid}; stop that one first`));
  first.child.signal("SIGTERM");
  assert.equal((await first.child.exited).code, 0);
});

test("data of a newer PostgreSQL are refused by name and version, and left alone", async () => {
  const folder = await freshFolder();
  await mkdir(join(folder, "data"));
  await writeFile(join(folder, "data", "PG_VERSION"), "99\n");
  await assert.rejects(startPostgres({ folder, durable: true }), (error: Error) => {
    assert.ok(error.message.includes(join(folder, "data")), error.message);
    assert.match(error.message, /is of PostgreSQL 99, this is PostgreSQL 18\.\d+: use the newer Signalbox/);
    return true;
  });
  assert.ok(existsSync(join(folder, "data", "PG_VERSION")));
});

test("connections need the generated password", async () => {
  const server = await startPostgres({ folder: await freshFolder(), durable: false });
  try {
    const wrong = new URL(server.url("postgres"));
    wrong.password = "guessed";
    await assert.rejects(query(wrong.href, "SELECT 1"), /password authentication failed/);
    assert.deepEqual(await query(server.url("postgres"), "SHOW max_connections"), [{ max_connections: "300" }]);
  } finally {
    await server.stop();
  }
});

test("a clone below a folder that is closed to others starts too", async () => {
  const closed = await mkdtemp(join(tmpdir(), "closed-"));
  folders.push(closed);
  const server = await startPostgres({ folder: join(closed, "clone", "postgres"), durable: false });
  try {
    assert.deepEqual(await query(server.url("postgres"), "SELECT 1 AS one"), [{ one: 1 }]);
    // Only root has to go elsewhere: PostgreSQL then runs under an account that cannot enter the closed folder.
    const isRoot = process.getuid?.() === 0;
    assert.equal(server.folder === join(closed, "clone", "postgres"), !isRoot);
    if (isRoot) folders.push(server.folder);
  } finally {
    await server.stop();
  }
});
