import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { commands } from "@signalbox/client/command";
import { createFormVisitor, createMailbox, createReceiver, eventually, type Mailbox } from "@signalbox/testing";
import { type EmbeddedSystem, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { createPerson } from "./run-signalbox.ts";

let mailbox: Mailbox;
let system: EmbeddedSystem;
const called = new Set<string>();

before(async () => {
  mailbox = await createMailbox();
  const properties = {
    "mail.url": mailbox.url,
    "account.registration": "open",
    "webhook-delivery.outbound.allow": "127.0.0.1:*",
  };
  system = await startEmbeddedSystem({ properties });
});

after(async () => {
  await system.stop();
  await removeData(system);
  await mailbox.close();
});

type Person = Awaited<ReturnType<typeof createPerson>>;

/** Runs a command that must succeed; returns what it printed. */
async function succeed(person: Person, words: readonly string[], stdin?: string): Promise<string> {
  const { code, stdout, stderr } = await person.run(words, stdin);
  assert.equal(code, 0, `${words.join(" ")}: ${stdout}${stderr}`);
  called.add(commands.find(({ name }) => words.join(" ").startsWith(name))?.name ?? "");
  return stdout;
}

/** Reads what a command printed with `--json`. */
const jsonOf = async (person: Person, words: readonly string[]) =>
  JSON.parse(await succeed(person, [...words, "--json"]));

test("a person who signed in with a code is known until they sign out", async (t) => {
  const { baseUrl } = system;
  const person = await createPerson(t, { baseUrl });
  const login = person.start(["login"]);
  const [, link = ""] = await login.waitForOutput(/Open (\S+)/);
  const visitor = createFormVisitor(baseUrl);
  const filled = await visitor.open(link);
  const code = new URL(link).searchParams.get("user_code") ?? "";
  const address = "ada@example.org";
  const question = await visitor.submit(await visitor.submit(filled, { user_code: code }), {});
  const mailed = await visitor.submit(question, { address }, "address");
  const [, digits = ""] = /^ {4}(\d{8})$/m.exec((await mailbox.mailTo(address)).text) ?? [];
  const done = await visitor.submit(mailed, { code: digits }, "code");
  assert.match(done.text, /The device is connected/);
  assert.equal((await login.exited).code, 0, login.stderr);
  called.add("login");

  const { credential } = await jsonOf(person, ["status"]);
  assert.equal(credential.kind, "token");
  assert.ok(credential.scopes.includes("webhooks:write"), "without --scope the sign-in may do what its person may");
  await switchesAccounts(person, visitor);
  const file = await readFile(join(person.home, "signalbox/profiles.json"), "utf8");
  const { accessToken } = JSON.parse(file).profiles.default.credential;
  await succeed(person, ["logout"]);
  assert.equal((await person.run(["status"])).code, 3);
  const ended = async () =>
    (await fetch(`${baseUrl}/api/account`, { headers: { authorization: `Bearer ${accessToken}` } })).status === 401;
  await eventually(ended, { message: "the tokens of the sign-in ended at the issuer" });
});

/** The person joins the administrator's account, acts for it, and goes back. */
async function switchesAccounts(person: Person, visitor: ReturnType<typeof createFormVisitor>): Promise<void> {
  const { baseUrl, apiKey } = system;
  const invited = await fetch(`${baseUrl}/api/v1/invitations/`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ account_id: "mine", role: "viewer" }),
  });
  const { url } = (await invited.json()) as { url: string };
  await visitor.submit(await visitor.open(new URL(url)), {}, "accept");
  const { account_id: own, accounts } = await jsonOf(person, ["switch"]);
  assert.deepEqual([accounts[0].id, accounts[1].role], [own, "viewer"]);
  await succeed(person, ["switch", accounts[1].id]);
  assert.equal((await jsonOf(person, ["status"])).credential.account_id, accounts[1].id);
  assert.equal((await person.run(["switch", "acc_unknown"])).code, 2);
  await succeed(person, ["switch", "own"]);
  assert.equal((await jsonOf(person, ["status"])).credential.account_id, own);
}

test("an event is triggered, forwarded, verified, explained and sent again, all from pipes", async (t) => {
  const person = await createPerson(t, system);
  const receiver = await createReceiver();
  t.after(() => receiver.close());
  await succeed(person, ["login", "--with-key", "--url", system.baseUrl], system.apiKey);

  const schema = JSON.stringify({
    type: "object",
    required: ["total"],
    properties: { total: { type: "integer", minimum: 5 } },
  });
  await succeed(person, [
    "api",
    "POST",
    "/api/v1/webhooks/event-types",
    "-f",
    "name=order.paid",
    "-F",
    `schema=${schema}`,
    "-f",
    "enforcement=block",
  ]);
  const tail = person.start(["events", "tail", "--events", "order.*", "--since", "1h", "--json"]);
  const listener = person.start(["listen", "--forward", `${receiver.url}/hooks?a=1`, "--events", "order.*", "--json"]);
  const [, secret = ""] = await listener.waitForOutput(/signing secret (\S+)/);

  receiver.answerNext({ status: 500, body: "no" });
  const published = await jsonOf(person, ["trigger", "order.paid"]);
  const eventId = published.items[0].id;
  const first = await receiver.waitFor(({ path }) => path === "/hooks?a=1");
  const second = await receiver.waitFor((request) => request !== first);
  assert.deepEqual(JSON.parse(first.body.toString()).data, { total: 5 });
  assert.equal(first.headers["webhook-id"], eventId);
  assert.ok(second.body.equals(first.body), "a failed attempt comes again with the same bytes");
  await eventually(() => listener.stdout.split("\n").length === 3 && tail.stdout.includes(eventId));
  const shown = listener.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    shown.map(({ attempt, status }) => [attempt, status]),
    [
      [1, 500],
      [2, 200],
    ],
  );

  const saved = join(person.home, "request.txt");
  const headers = Object.entries(first.headers).map(([name, value]) => `${name}: ${value}`);
  await writeFile(saved, Buffer.concat([Buffer.from(`POST /hooks HTTP/1.1\n${headers.join("\n")}\n\n`), first.body]));
  await succeed(person, ["verify", saved, "--secret", secret]);
  const forged = await person.run(
    ["verify", "--secret", secret],
    (await readFile(saved, "utf8")).replace('"total":5', '"total":6'),
  );
  assert.equal(forged.code, 1);
  assert.match(forged.stdout, /^failed +signature +No signature matches/m);

  const { items: steps } = await jsonOf(person, ["why", eventId]);
  assert.ok(
    steps.some(({ reason }: { reason: string }) => reason === "retry"),
    "the failed attempt is in the story",
  );
  const [{ delivery }] = shown;
  assert.match(
    await succeed(person, ["replay", delivery, "--dry-run"]),
    /Would send again: delivery whd_.*now succeeded/,
  );
  await succeed(person, ["replay", delivery]);
  const third = await receiver.waitFor((request) => request !== first && request !== second);
  assert.ok(third.body.equals(first.body));

  for (const process of [listener, tail]) {
    process.signal("SIGINT");
    assert.equal((await process.exited).code, 0, process.stderr);
  }
  assert.equal(tail.stdout.trim().split("\n").length, 1, "the tail shows each event once");
  called.add("listen").add("events tail");
});

test("a replay is counted first, then needs a yes", async (t) => {
  const person = await createPerson(t, system);
  const receiver = await createReceiver({ status: 500 });
  t.after(() => receiver.close());
  const settings = JSON.stringify({ retry_schedule_seconds: [0] });
  const created = await jsonOf(person, [
    "api",
    "POST",
    "/api/v1/webhooks/endpoints",
    "-f",
    `url=${receiver.url}`,
    "-F",
    'event_types=["letter.*"]',
    "-F",
    `settings=${settings}`,
  ]);
  await succeed(person, ["trigger", "letter.sent", "--data", '{"letter":1}']);
  const exhausted = async () => {
    const path = `/api/v1/webhooks/deliveries?endpoint_id=${created.id}&status=exhausted`;
    return (await succeed(person, ["api", path, "--paginate"])) !== "";
  };
  await eventually(exhausted);
  const replay = ["replay", "--endpoint", created.id, "--since", "1h", "--status", "exhausted"];
  assert.deepEqual(await jsonOf(person, [...replay, "--dry-run"]), { count: 1 });
  const asked = await person.run(replay);
  assert.deepEqual([asked.code, receiver.requests.length], [2, 1]);
  assert.match(asked.stderr, /Send again: 1 delivery .*Add --yes/);
  receiver.answer({});
  assert.match(await succeed(person, [...replay, "--yes", "--wait"]), /Replay whr_\w+: done, 1 of 1/);
  await eventually(() => receiver.requests.length === 2);
  await succeed(person, ["completion", "bash"]);
});

test("a retry sends everything that waits", async (t) => {
  const person = await createPerson(t, system);
  const receiver = await createReceiver({ status: 500 });
  t.after(() => receiver.close());
  const endpoint = ["api", "POST", "/api/v1/webhooks/endpoints", "-f", `url=${receiver.url}`];
  const fields = ['event_types=["letter.*"]', 'settings={"retry_schedule_seconds":[0,3600]}'];
  const created = await jsonOf(person, [...endpoint, ...fields.flatMap((field) => ["-F", field])]);
  await succeed(person, ["trigger", "letter.sent", "--data", '{"letter":1}']);
  await eventually(() => receiver.requests.length === 1);
  const retry = ["retry", "--endpoint", created.id];
  assert.deepEqual(await jsonOf(person, [...retry, "--dry-run"]), { count: 1 });
  assert.equal((await jsonOf(person, ["retry", "--dry-run"])).left_out, 0);
  assert.equal((await person.run(retry)).code, 2);
  receiver.answer({});
  assert.match(await succeed(person, [...retry, "--yes", "--wait"]), /Replay whr_\w+: done, 1 of 1/);
  await eventually(() => receiver.requests.length === 2);
});

test("an operator overrides a property until it is unset", async (t) => {
  const person = await createPerson(t, system);
  const name = "limits.maxPageSize";
  const reason = ["--reason", "Too slow"];
  assert.match(await succeed(person, ["properties", "list", "maxPage"]), /limits\.maxPageSize +defaults +100/);
  const asked = await person.run(["properties", "set", name, "50", ...reason]);
  assert.deepEqual([asked.code, asked.stdout], [2, `${name}: 100 → 50, at once\n`]);
  const done = await succeed(person, ["properties", "set", name, "50", ...reason, "--yes"]);
  assert.match(done, /Revision \d+: (\d+) of \1 instances run with it/);
  assert.equal((await jsonOf(person, ["properties", "get", name])).overrides[0].value, 50);
  const refused = await person.run(["properties", "set", name, "5", ...reason, "--dry-run"]);
  assert.deepEqual([refused.code, /defaults\.pageSize must be at most/.test(refused.stderr)], [1, true]);
  await succeed(person, ["properties", "unset", name, ...reason, "--yes"]);
  assert.deepEqual((await jsonOf(person, ["properties", "get", name])).overrides, []);
  assert.equal((await person.run(["properties", "get", "nothing"])).code, 4);
});

test("a flag that was set from a file is rolled out to a larger share", async (t) => {
  const person = await createPerson(t, system);
  const variants = ["on", "off"].map((name) => ({ name, value: name === "on" }));
  const flag = { key: "checkout.new", state: "enabled", type: "boolean", owner: "payments", variants };
  const reason = ["--reason", "A tenth first", "--yes"];
  const definition = JSON.stringify({ ...flag, default: "off", off: "off" });
  assert.match(await succeed(person, ["flags", "set", "-", ...reason], definition), /checkout\.new: new → no rules/);
  assert.match(await succeed(person, ["flags", "roll-out", flag.key, "10", ...reason]), /no rules → on 10 %/);
  assert.match(await succeed(person, ["flags", "roll-out", flag.key, "100", ...reason]), /on 10 % → on 100 %/);
  assert.match(await succeed(person, ["flags", "list"]), /checkout\.new +enabled +boolean +payments +off +on 100 %/);
  const kept = await succeed(person, ["flags", "get", flag.key]);
  assert.match(await succeed(person, ["flags", "set", "-", ...reason], kept), /on 100 % → on 100 %/);
});

test("a flag of flagd's file is there after its import", async (t) => {
  const person = await createPerson(t, system);
  const flag = { state: "ENABLED", variants: { on: true, off: false }, defaultVariant: "off" };
  const file = JSON.stringify({ flags: { "imported.flag": flag } });
  const words = ["--from", "flagd", "--owner", "payments", "--reason", "From flagd", "--yes"];
  await succeed(person, ["flags", "import", "-", ...words], file);
  assert.match(await succeed(person, ["flags", "list"]), /imported\.flag +enabled +boolean +payments/);
});

test("what comes in is followed until Ctrl-C", async (t) => {
  const person = await createPerson(t, system);
  const logs = person.start(["logs", "--json"]);
  const secret = "a secret of at least sixteen bytes";
  const body = { name: "Shop", scheme: "github", secret };
  const created = await fetch(`${system.baseUrl}/api/v1/webhooks/sources`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": system.apiKey },
    body: JSON.stringify(body),
  });
  const { ingest_path: path } = (await created.json()) as { ingest_path: string };
  await eventually(async () => {
    await fetch(`${system.baseUrl}${path}`, { method: "POST", body: "{}" });
    return logs.stdout.includes('"kind":"webhookRejected"');
  });
  logs.signal("SIGINT");
  assert.equal((await logs.exited).code, 0);
  called.add("logs");
});

test("every command ran", () => {
  assert.deepEqual([...called].sort(), commands.map(({ name }) => name).sort());
});

test("a bookmark goes to a receiver in its sender's bytes, or to an endpoint as a signed event", async (t) => {
  const person = await createPerson(t, system);
  const receiver = await createReceiver();
  t.after(() => receiver.close());
  await succeed(person, ["login", "--with-key", "--url", system.baseUrl], system.apiKey);
  const api = (path: string, body: object) =>
    fetch(`${system.baseUrl}/api/v1/webhooks/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": system.apiKey },
      body: JSON.stringify(body),
    });
  const secret = "a secret of at least sixteen bytes";
  const created = await api("sources", { name: "Shop", scheme: "github", secret });
  const source = (await created.json()) as { id: string; ingest_path: string };
  const body = '{ "order": 17 }';
  const headers = {
    "content-type": "application/json",
    "x-github-event": "order.created",
    "x-github-delivery": crypto.randomUUID(),
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  };
  const posted = await fetch(`${system.baseUrl}${source.ingest_path}`, { method: "POST", headers, body });
  assert.equal(posted.status, 202);
  const { items } = await jsonOf(person, ["api", `/api/v1/webhooks/sources/${source.id}/received`]);
  assert.equal(
    (await api(`sources/${source.id}/received/${items[0].id}/bookmark`, { name: "first-order" })).status,
    201,
  );

  const sent = await jsonOf(person, ["trigger", "bookmark:first-order", "--forward", `${receiver.url}/hooks`]);
  assert.equal(sent.status, 200);
  const request = await receiver.waitFor(({ path }) => path === "/hooks");
  assert.equal(request.body.toString(), body, "byte for byte");
  assert.equal(request.headers["x-github-delivery"], headers["x-github-delivery"]);
  assert.equal(request.headers["x-hub-signature-256"], undefined, "the signature was never kept");
  receiver.answerNext({ status: 500 });
  assert.equal((await person.run(["trigger", "bookmark:first-order", "--forward", receiver.url])).code, 1);

  const endpoint = { url: `${receiver.url}/endpoint`, event_types: ["order.created"] };
  assert.equal((await api("endpoints", endpoint)).status, 201);
  await succeed(person, ["trigger", "bookmark:first-order"]);
  const delivered = await receiver.waitFor(({ path, body: bytes }) => path === "/endpoint" && bytes.includes("17"));
  assert.deepEqual(JSON.parse(delivered.body.toString()).data, { order: 17 });
  assert.ok(delivered.headers["webhook-signature"], "signed as every delivery");

  for (const [words, code, message] of [
    [["bookmark:none"], 4, /There is no bookmark of this name/],
    [["bookmark:first-order", "--data", "{}"], 2, /leave out --data/],
    [["order.created", "--forward", "3000"], 2, /need a bookmark/],
  ] as const) {
    const answer = await person.run(["trigger", ...words]);
    assert.equal(answer.code, code, words.join(" "));
    assert.match(answer.stderr, message);
  }
});
