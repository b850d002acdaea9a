import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { eventsDatabase } from "@signalbox/infra/embedded/embedded-defaults.ts";
import { createFormVisitor, eventually } from "@signalbox/testing";
import { createClient, expectStatus } from "../journey/client.ts";
import {
  newDataDirectory,
  removeData,
  runEmbedded,
  startEmbeddedSystem,
  startScript,
} from "../systems/embedded-system.ts";
import { runStatement } from "./run-statement.ts";

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());

async function freshFolder(): Promise<string> {
  const dataDirectory = await newDataDirectory();
  opened.defer(() => removeData({ dataDirectory }));
  return dataDirectory;
}

async function start(dataDirectory: string, properties: Record<string, string> = {}) {
  const system = await startEmbeddedSystem({ dataDirectory, properties });
  opened.defer(async () => void (await system.process.kill()));
  return system;
}

/** Runs a start that must fail, and returns its last sentence. */
async function whyNot(dataDirectory: string, properties: Record<string, string> = {}): Promise<string> {
  const process = runEmbedded(dataDirectory, properties);
  const timer = setTimeout(() => process.signal("SIGKILL"), 180_000);
  const { code } = await process.exited;
  clearTimeout(timer);
  assert.equal(code, 1, process.stdout + process.stderr);
  return process.stderr;
}

/** The same for a failure that one option repairs: only that sentence follows the steps of the start. */
async function whyRefused(dataDirectory: string, properties: Record<string, string> = {}): Promise<string> {
  const process = runEmbedded(dataDirectory, properties);
  assert.equal((await process.exited).code, 1, process.stdout + process.stderr);
  assert.equal(process.stdout, "");
  const [, sentence = ""] = /^(?:Starting .+\n)*\nSignalbox did not start: (.+)\n$/.exec(process.stderr) ?? [];
  assert.ok(sentence, process.stderr);
  return sentence;
}

test("a start says what it does and where everything is, the base URL first", async () => {
  const { process, baseUrl, managementUrl, apiKey } = await start(await freshFolder());
  assert.match(process.stderr, /^Starting .+\n(Starting .+\n)+$/);
  const lines = process.stdout.split("\n").filter((line) => !line.startsWith("{")); // a busy machine may log a warning
  assert.equal(lines[0], baseUrl);
  await process.waitForOutput(/Open http:\/\/127\.0\.0\.1:\d+ in a browser first: it links to all of the above\.$/m);
  for (const text of [`${managementUrl}/management`, `${baseUrl}/graphql`, apiKey]) {
    assert.ok(process.stdout.includes(text), text);
  }
  assert.equal(process.stdout.match(/^ {2}curl /gm)?.length, 3);
  assert.doesNotMatch(process.stdout, /first-link/, "its output may be a log file, so nobody's link is there");
  const page = await fetch(baseUrl, { headers: { accept: "text/html" } });
  const links = [...(await page.text()).matchAll(/<a href="([^"]+)">/g)].map(
    ([, href = ""]) => new URL(href, page.url),
  );
  const shown = links.map(({ href }) => href);
  const printed = [...process.stdout.matchAll(/^ {2}\w+ {2,}(http\S+)$/gm)].map(([, url = ""]) => url);
  assert.equal(printed.length, 6, process.stdout);
  for (const url of printed) assert.ok(shown.includes(url), `${url} is printed and shown`);
  assert.equal((await fetch(links.find(({ pathname }) => pathname.endsWith("/ready")) ?? "")).status, 200);
  const { links: forPrograms } = (await (await fetch(baseUrl)).json()) as { links: Record<string, string> };
  assert.deepEqual(Object.values(forPrograms).toSorted(), shown.toSorted(), "programs get the same links");
  const [, photo = ""] = /'file=@(.+)'/.exec(process.stdout) ?? [];
  assert.ok((await stat(photo)).isFile(), "the picture of the upload command");
  process.signalGroup("SIGINT");
  assert.deepEqual(await process.exited, { code: 0, signal: null }, "Ctrl-C drains");
  assert.match(process.stderr, /^Stopping: finishing .+\. Another Ctrl-C stops at once\.\nStopped\.$/m);
  assert.doesNotMatch(process.stdout, /"level":"(warn|error)"/, "nothing was cut off by the stop");
});

test("mails are printed, so a new contact address can be confirmed from the terminal", async () => {
  const { process, baseUrl, apiKey } = await start(await freshFolder());
  const send = createClient(baseUrl);
  const headers = { "x-api-key": apiKey };
  const contact_address = "ada@example.org";
  expectStatus(await send("/api/account/", { method: "PATCH", headers, body: { contact_address } }), 200);
  const printed = /To: ada@example\.org[\s\S]*?\s(\d{8})\s[\s\S]*?(http\S+contact-links\/\S+)\s/;
  const [, code, link = ""] = await eventually(() => printed.exec(process.stderr));
  assert.ok(link.startsWith(`${baseUrl}/`), link);
  // A browser without a session is sent to sign in.
  const pressed = await fetch(link, { method: "POST", redirect: "manual" });
  assert.equal(pressed.status, 303);
  assert.ok(pressed.headers.get("location")?.startsWith(`${baseUrl}/oauth/authorize?`));
  const confirm = await send("/api/account/contact-change/confirm", { method: "POST", headers, body: { code } });
  expectStatus(confirm, 200);
  const account = expectStatus(await send("/api/account/", { headers }), 200).json;
  assert.deepEqual([account.contact_address, account.contact_address_verified], [contact_address, true]);
});

test("the link that --link prints signs the first administrator in, with a code from the terminal", async () => {
  const process = runEmbedded(await freshFolder(), {}, ["--link"]);
  opened.defer(async () => void (await process.kill()));
  const [link = ""] = await process.waitForOutput(/^http\S+\/oauth\/first-link\/sbx_link_\S+$/m);
  const visitor = createFormVisitor(new URL(link).origin);
  const asked = await visitor.submit(await visitor.open(link), { name: "Ada", address: "ada@example.org" }, "address");
  const [, code = ""] = await eventually(() => /To: ada@example\.org[\s\S]*?\s(\d{8})\s/.exec(process.stderr));
  const last = await visitor.submit(asked, { code }, "code");
  assert.match(last.text, /You are signed in as “Ada”/);
  const token = link.slice(link.lastIndexOf("_") + 1);
  assert.ok(!process.stderr.includes(token), "the link is on standard output alone, and in no line of the log");
});

test("what is kept is readable for this user alone", async () => {
  const folder = await freshFolder();
  const system = await start(folder);
  const modeOf = async (name: string) => ((await stat(join(folder, name))).mode & 0o777).toString(8);
  // Root's database server runs under another account, which must be able to enter.
  assert.equal(await modeOf("."), process.getuid?.() === 0 ? "711" : "700");
  for (const name of ["keys", "first-key"]) assert.equal(await modeOf(name), "600", name);
  assert.equal(await modeOf("blobs"), "700");
  await system.stop();
});

/** Lists the folders of a process, which it cannot remove when it is killed. */
async function foldersOf({ pid }: { readonly pid: number }): Promise<string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith("signalbox-") && name.includes(`-${pid}-`));
}

test("after kill -9 the next start has data and key, but no leftovers", async () => {
  const folder = await freshFolder();
  const killed = await start(folder);
  const body = { display_name: "Still here" };
  expectStatus(await createClient(killed.baseUrl, killed.apiKey)("/api/account/", { method: "PATCH", body }), 200);
  await killed.process.kill();
  assert.notEqual((await foldersOf(killed.process)).length, 0);
  await writeFile(join(folder, "postgres", "owner.json"), ""); // a folder that a kill at the wrong moment once left
  const next = await start(folder);
  assert.deepEqual(await foldersOf(killed.process), []);
  assert.equal(next.apiKey, killed.apiKey);
  const account = expectStatus(await createClient(next.baseUrl, next.apiKey)("/api/account/"), 200);
  assert.equal(account.json.display_name, "Still here");

  assert.equal(
    await whyRefused(folder),
    `it already runs in this folder, as process ${next.process.pid}; stop that one, or choose another folder: ` +
      "npm start -- --embedded.data-directory=<folder>",
  );
  expectStatus(await createClient(next.baseUrl, next.apiKey)("/api/account/"), 200);
  await next.stop();

  const keys = await readFile(join(folder, "keys"));
  await writeFile(join(folder, "keys"), "");
  assert.match(await whyNot(folder), /did not start: .*keys is missing or cut off, .*: put the file back from a copy/);
  await writeFile(join(folder, "keys"), keys);

  const past = "'event-log', '001_event_log.sql', ''";
  await runStatement(folder, eventsDatabase, `insert into signalbox.library_migrations values (${past})`);
  assert.match(await whyRefused(folder), /^its data was made by a version before 0\.2\.0; move \.signalbox aside, or /);
  await runStatement(folder, eventsDatabase, "delete from signalbox.library_migrations where checksum = ''");

  const future = "'future', 'future', '29990101000000_future', now(), 1";
  const columns = "id, checksum, migration_name, finished_at, applied_steps_count";
  await runStatement(folder, "signalbox_account", `insert into _prisma_migrations (${columns}) values (${future})`);
  assert.match(await whyNot(folder), /did not start: .*contracted by a newer version of .*account/);
  await writeFile(join(folder, "postgres", "data", "PG_VERSION"), "99\n");
  assert.match(await whyNot(folder), /did not start: the data folder .* is of PostgreSQL 99, this is PostgreSQL \d+/);
  assert.equal(await readFile(join(folder, "postgres", "data", "PG_VERSION"), "utf8"), "99\n");
});

test("a subscription goes on after the cursor of its last message, even over kill -9", async () => {
  const folder = await freshFolder();
  const killed = await start(folder);
  const query = "subscription { accountChanged { event { id } cursor } }";
  const follow = ({ baseUrl, apiKey }: typeof killed, cursor: Record<string, string>) =>
    fetch(`${baseUrl}/graphql?query=${encodeURIComponent(query)}`, {
      headers: { "x-api-key": apiKey, accept: "text/event-stream", ...cursor },
    });
  const rename = async ({ baseUrl, apiKey }: typeof killed, name: string) =>
    expectStatus(
      await createClient(baseUrl, apiKey)("/api/account/", { method: "PATCH", body: { display_name: name } }),
      200,
    );
  const first = await follow(killed, {});
  await rename(killed, "Told before");
  const cursor = /^id: (\S+)$/m.exec(await firstMessage(first))?.[1] ?? "";
  await killed.process.kill();
  const next = await start(folder);
  await rename(next, "Told after");
  const resumed = await follow(next, { "last-event-id": cursor });
  assert.equal(resumed.status, 200);
  assert.match(await firstMessage(resumed), /"accountChanged"/);
});

/** Reads an event stream up to its first message. */
async function firstMessage({ body }: Response): Promise<string> {
  let text = "";
  for await (const chunk of body ?? []) {
    text += Buffer.from(chunk).toString();
    if (/^event: next\ndata: .+$/m.test(text)) return text.slice(text.lastIndexOf("id: "));
  }
  throw new Error(`the stream ended without a message: ${text}`);
}

test("a first key that no longer works is replaced, as the start says", async () => {
  const folder = await freshFolder();
  const first = await start(folder);
  const send = createClient(first.baseUrl, first.apiKey);
  const { id } = expectStatus(await send("/api/account/api-keys/"), 200).json.items[0];
  expectStatus(await send(`/api/account/api-keys/${id}`, { method: "DELETE" }), 204);
  assert.equal((await first.stop()).get("embedded"), 0);
  const second = await start(folder);
  assert.notEqual(second.apiKey, first.apiKey);
  assert.match(second.process.stdout, /It is a new one: the key that was kept there no longer works\./);
  expectStatus(await createClient(second.baseUrl, second.apiKey)("/api/account/"), 200);
  assert.equal((await second.stop()).get("embedded"), 0);
  const third = await start(folder);
  assert.equal(third.apiKey, second.apiKey);
  assert.doesNotMatch(third.process.stdout, /no longer works/);
  await third.stop();
});

test("requests and events come back after the database server alone was killed", async () => {
  const folder = await freshFolder();
  const { process: embedded, baseUrl, managementUrl, apiKey, stop } = await start(folder);
  const send = createClient(baseUrl, apiKey);
  const [pid] = (await readFile(join(folder, "postgres", "data", "postmaster.pid"), "utf8")).split("\n");
  process.kill(Number(pid), "SIGKILL");
  await embedded.waitForOutput(/the database had ended and was started again/);
  const body = { contact_address: "grace@example.org" };
  await eventually(async () => expectStatus(await send("/api/account/", { method: "PATCH", body }), 200));
  await eventually(() => /To: grace@example\.org/.exec(embedded.stderr));
  await eventually(async () => (await fetch(`${managementUrl}/management/health/ready`)).status === 200);
  assert.equal((await stop()).get("embedded"), 0);
});

test("a second signal stops the process and its database at once, saying what may be repeated", async () => {
  const folder = await freshFolder();
  const { process } = await start(folder, { "shutdown.grace": "20000", "shutdown.deadline": "40000" });
  process.signal("SIGTERM");
  const stillRunning = await Promise.race([process.exited, new Promise((resolve) => setTimeout(resolve, 300, "runs"))]);
  assert.equal(stillRunning, "runs", "the first one drains");
  process.signal("SIGTERM");
  assert.deepEqual(await process.exited, { code: 143, signal: null });
  assert.match(process.stderr, /^Stopped at once\. Running work was cut off: .+ may be repeated/m);
  await eventually(() => !existsSync(join(folder, "postgres", "data", "postmaster.pid")));
});

test("a port in use is named with its property", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  opened.defer(() => void taken.close());
  await new Promise((resolve) => taken.once("listening", resolve));
  const { port } = taken.address() as { port: number };
  for (const property of ["http.port", "management.server.port", "internal.port"]) {
    assert.equal(
      await whyRefused(await freshFolder(), { [property]: String(port) }),
      `port ${port} on 127.0.0.1 is in use; set ${property} to a free one: npm start -- --${property}=<value>`,
    );
  }
});

test("a folder that cannot be used is named with the option that takes another", async () => {
  // A file in place of a folder, because root, which runs tests in containers, may write everywhere.
  const folder = join(import.meta.filename, "data");
  assert.equal(
    await whyRefused(folder),
    `its folder cannot be used (ENOTDIR: not a directory, mkdir '${folder}'); choose another one: ` +
      "npm start -- --embedded.data-directory=<folder>",
  );
});

test("a folder without write permission is named with the option that takes another", async () => {
  const parent = await mkdtemp(join(tmpdir(), "signalbox-closed-"));
  opened.defer(() => rm(parent, { recursive: true }));
  await chmod(parent, 0o555);
  // What a killed process of another user left in /tmp is in nobody's way.
  const { pid: dead } = spawnSync(process.execPath, ["--version"]);
  const left = join(tmpdir(), `signalbox-imaging-${encodeURIComponent(hostname())}-${dead}-left`);
  await mkdir(left, { mode: 0o700 });
  // A start under this user removes it.
  opened.defer(() => rm(left, { recursive: true, force: true }));
  // Root may write everywhere, so the start runs as somebody else.
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const argv = [startScript, `--embedded.data-directory=${join(parent, "data")}`, "--http.port=0"];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { ...user, cwd: parent, encoding: "utf8" });
  assert.deepEqual([status, stdout], [1, ""], stderr);
  assert.equal(
    stderr,
    `\nSignalbox did not start: its folder cannot be used (EACCES: permission denied, mkdir '${join(parent, "data")}'); ` +
      "choose another one: npm start -- --embedded.data-directory=<folder>\n",
  );
});

test("--help prints the options instead of starting", () => {
  const { status, stdout } = spawnSync(process.execPath, [startScript, "--help"], { encoding: "utf8" });
  assert.equal(status, 0);
  assert.match(stdout, /^Usage: [\s\S]*--<property>=<value>[\s\S]*Example:/);
});

test("a wrong configuration names property, source and what would be right", async () => {
  const folder = await freshFolder();
  const why = await whyNot(folder, { "http.stall-timeout": "soon", "log.levle": "info" });
  assert.match(why, /http\.stall-timeout \(from --http\.stall-timeout\) is "?soon"?: expected an integer/);
  assert.match(
    why,
    /Unknown property "log\.levle"\. Did you mean "log\.level"\? It was given by --log\.levle with the value "info"\./,
  );
  assert.match(
    await whyNot(folder, { "images.limits.frames": "0" }),
    /images\.limits\.frames \(from --images\.limits\.frames\) is "?0"?: expected an integer .*from 1 /,
  );
});
