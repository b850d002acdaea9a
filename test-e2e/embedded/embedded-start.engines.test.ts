import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { eventually } from "@signalbox/testing";
import { createClient, expectStatus } from "../journey/client.ts";
import {
  newDataDirectory,
  removeData,
  runEmbedded,
  startEmbeddedSystem,
  startScript,
} from "../systems/embedded-system.ts";

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

/** Runs a start that must fail, and returns its last sentence: only that follows the steps of the start. */
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
  assert.doesNotMatch(process.stdout, /sbx_link_\w/, "its output may be a log file, so nobody's link is there");
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
});

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
