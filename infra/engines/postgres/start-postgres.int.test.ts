import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually, startProcess, type TestProcess } from "@signalbox/testing";
import pg from "pg";
import { processIdentity } from "../processes.ts";
import { randomFrom } from "../random-from.fixture.ts";
import { startPostgres } from "./start-postgres.ts";

const starter = join(import.meta.dirname, "postgres-starter.fixture.ts");
const folders: string[] = [];
after(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-postgres-"));
  // mkdtemp makes a folder for us alone; the server may run under another account, which may not reach the clone.
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
  test(`${how} stops the database only after the drain`, async () => {
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

test("data survive kill -9 of the server and its starter", async () => {
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

test("a start killed at any moment leaves a folder on which the next one is ready, its password unchanged", async () => {
  const folder = await freshFolder();
  const random = randomFrom(20_261_122);
  const passwords = new Set<string>();
  for (let round = 1; round <= 12; round++) {
    const child = startProcess(starter, [folder]);
    await sleep(150 + random() * 900); // from the first line of the program until after it is ready
    await child.kill();
    const written = await readFile(join(folder, "password"), "utf8").catch(() => "");
    if (written) passwords.add(written);
  }
  const next = await start(folder);
  passwords.add(new URL(next.url).password);
  assert.equal(passwords.size, 1);
  assert.deepEqual(await query(next.url, "SELECT 1 AS one"), [{ one: 1 }]);
  next.child.signal("SIGTERM");
  assert.equal((await next.child.exited).code, 0);
});

test("a start cut off while it wrote its name is no owner, at whatever byte", async () => {
  const folder = await freshFolder();
  const server = await startPostgres({ folder, durable: false });
  const file = join(server.folder, "owner.json");
  const owner = await readFile(file, "utf8");
  try {
    for (let length = 0; length < owner.length; length++) {
      await writeFile(file, owner.slice(0, length));
      assert.equal((await startPostgres({ folder, durable: false })).pid, server.pid, `${length} bytes`);
    }
    assert.equal(await readFile(file, "utf8"), owner);
  } finally {
    await server.stop();
  }
});

test("a server whose password is lost keeps its data under a new one", async () => {
  const folder = await freshFolder();
  let server = await startPostgres({ folder, durable: false });
  await query(server.url("postgres"), "CREATE TABLE kept AS SELECT 42 AS answer");
  const file = join(server.folder, "password");
  const password = await readFile(file, "utf8");
  for (const left of ["", password.slice(0, 20)]) {
    await writeFile(file, left);
    server = await startPostgres({ folder, durable: false });
    assert.deepEqual(await query(server.url("postgres"), "SELECT answer FROM kept"), [{ answer: 42 }]);
    assert.notEqual(await readFile(file, "utf8"), password);
  }
  await server.stop();
});

test("stopping at once is harmless once the server has ended", async () => {
  const server = await startPostgres({ folder: await freshFolder(), durable: false });
  server.stopAtOnce();
  await eventually(() => !existsSync(join(server.folder, "data", "postmaster.pid")));
  server.stopAtOnce();
  await server.stop();
  server.stopAtOnce();
});

test("a server killed before it had written its pid is no server", async () => {
  const folder = await freshFolder();
  const server = await startPostgres({ folder, durable: false });
  await server.stop();
  await writeFile(join(server.folder, "data", "postmaster.pid"), "");
  const next = await startPostgres({ folder, durable: false });
  assert.deepEqual(await query(next.url("postgres"), "SELECT 1 AS one"), [{ one: 1 }]);
  await next.stop();
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

test("a start refuses the data of a newer PostgreSQL without touching them", async () => {
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

test("statements go by a private Unix socket, or by TCP where its path would be too long", async () => {
  const folder = await freshFolder();
  for (const [where, address] of [
    [folder, null],
    [join(folder, "a".repeat(90)), "127.0.0.1"],
  ] as const) {
    const server = await startPostgres({ folder: where, durable: false });
    try {
      const [row] = await query(server.url("postgres"), "SELECT host(inet_client_addr()) AS address");
      assert.deepEqual(row, { address });
      if (address === null) assert.equal((await stat(join(server.folder, "sockets"))).mode & 0o077, 0);
    } finally {
      await server.stop();
    }
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
