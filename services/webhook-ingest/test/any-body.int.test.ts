import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { KiB } from "@signalbox/core";
import { openListener } from "@signalbox/runtime";
import { testPerson } from "@signalbox/testing";
import fc from "fast-check";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { secrets, sign, type Webhook } from "./signing.ts";

let ingest: Harness;
/** Listens as the process of the service does, because some requests are refused by the server itself. */
let port: number;
before(async () => {
  ingest = await startIngest();
  const { context, listener } = ingest;
  const options = { name: "http", host: "127.0.0.1", port: 0, listener, errorDocs: "" };
  ({ port } = await openListener(context.runner, options));
});
after(() => ingest.close());

type Person = ReturnType<typeof testPerson>;
type Source = { id: string; ingest_path: string };
const hmac = { scheme: "hmac", secret: secrets.hmac };
const receivedOf = async (who: Person, { id }: Source) =>
  (await ingest.send(who, "GET", `${sourcesPath}/${id}/received?limit=50`)).body.items;

/** Writes bytes piece by piece, and returns the whole answer. `halfClosed` ends our side first. */
async function exchange(pieces: readonly (string | Buffer)[], { halfClosed = false } = {}): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }).setNoDelay(true);
  let answer = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    answer += text;
  });
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()).once("error", () => resolve()));
  socket.once("end", () => socket.end());
  for (const piece of pieces) {
    if (socket.writable) socket.write(piece);
    await nextTurn();
  }
  if (halfClosed) socket.end();
  await ended;
  return answer;
}

function head({ ingest_path }: Source, { headers }: Webhook, more: readonly string[]): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${ingest_path} HTTP/1.1`, "host: x", "connection: close", ...lines, ...more, "", ""].join("\r\n");
}
const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);

test("a body is read however it is sent: chunked, or a byte at a time", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const [chunked, slow] = [sign("hmac"), sign("hmac")];
  const pieces = String(chunked.body).match(/.{1,7}/g) ?? [];
  const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
  const answers = [
    await exchange([head(source, chunked, ["transfer-encoding: chunked"]), ...chunks, "0\r\n\r\n"]),
    await exchange([head(source, slow, [`content-length: ${slow.body.length}`]), ...String(slow.body)]),
  ];
  assert.deepEqual(answers.map(statusOf), [202, 202]);
  assert.equal((await receivedOf(who, source)).length, 2);
});

test("a trailer behind a body is no header of the webhook", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const { headers, body } = sign("hmac", { id: "d-1" });
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\nx-delivery-id: d-2\r\nx-signature: none\r\n\r\n`;
  const chunked = head(source, { headers, body }, ["transfer-encoding: chunked", "trailer: x-delivery-id"]);
  assert.equal(statusOf(await exchange([chunked, chunks])), 202);
  assert.equal((await receivedOf(who, source))[0].delivery_id, "d-1");
});

test("a sender that closes its side before the answer sends again, and its webhook is stored once", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const webhook = sign("hmac");
  const length = `content-length: ${webhook.body.length}`;
  await exchange([head(source, webhook, [length]), webhook.body], { halfClosed: true });
  assert.equal((await ingest.post(source, webhook)).status, 202);
  assert.equal((await receivedOf(who, source)).length, 1);
});

test("a truncated body leaves nothing, and the next one is accepted", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const webhook = sign("hmac");
  const announced = `content-length: ${webhook.body.length}`;
  const broken = await exchange([head(source, webhook, [announced]), webhook.body.slice(0, 5)], { halfClosed: true });
  assert.notEqual(statusOf(broken), 202);
  assert.equal((await receivedOf(who, source)).length, 0);
  assert.equal((await ingest.post(source, webhook)).status, 202);
});

test("an ambiguous request, or one announced too large, is refused by its head", async () => {
  const source = await ingest.newSource(testPerson(), hmac);
  const webhook = sign("hmac");
  const length = `content-length: ${webhook.body.length}`;
  const both = await exchange([head(source, webhook, [length, "transfer-encoding: chunked"]), "0\r\n\r\n"]);
  const twice = await exchange([head(source, webhook, [length, "content-length: 1"]), webhook.body]);
  const large = await exchange([head(source, webhook, ["content-length: 1048577"])]);
  const asked = await exchange([head(source, webhook, ["content-length: 1048577", "expect: 100-continue"])]);
  assert.deepEqual([both, twice, large, asked].map(statusOf), [400, 400, 413, 413]);
  assert.doesNotMatch(asked, /100 Continue/);
});

test("a sender that expects 100-continue gets it before its body", async () => {
  const source = await ingest.newSource(testPerson(), hmac);
  const webhook = sign("hmac");
  const asked = head(source, webhook, [`content-length: ${webhook.body.length}`, "expect: 100-continue"]);
  const answer = await exchange([asked, webhook.body]);
  assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 202 /);
});

/** A request whose body stalls; resolves once the server waits for it. */
async function stalled(source: Source): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => {});
  socket.write(head(source, sign("hmac"), ["content-length: 1000", "expect: 100-continue"]));
  const [answer] = await once(socket, "data");
  assert.match(String(answer), /100 Continue/);
  return socket;
}

test("stalled bodies take no place from other requests of the source", async () => {
  const source = await ingest.newSource(testPerson(), hmac);
  const slow = await Promise.all(Array.from({ length: 80 }, () => stalled(source)));
  try {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ingest.post(source, sign("hmac"))));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
  } finally {
    for (const socket of slow) socket.destroy();
  }
});

test("beyond the limit of incomplete bodies, the one idle for the longest time is answered 408", async () => {
  const source = await ingest.newSource(testPerson(), hmac);
  const first = await stalled(source);
  const answer = once(first, "data");
  const slow = await Promise.all(Array.from({ length: 256 }, () => stalled(source)));
  assert.match(String(await answer), /^HTTP\/1\.1 408 /);
  for (const socket of [first, ...slow]) socket.destroy();
});

test("ids and types of any text are kept as PostgreSQL allows", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "stripe", secret: secrets.stripe });
  const post = async (id: string) => {
    const body = `{"id":${JSON.stringify(id)},"type":"a/../b"}`;
    return (await ingest.post(source, sign("stripe", { body }))).status;
  };
  const ids = ["x".repeat(512), "../../etc/passwd", "a\0b", "a\ud800b", "' or 1=1 --", "%00%2e", "ä\u202e"];
  for (const id of ids) assert.equal(await post(id), 202, JSON.stringify(id));
  const shown = (await receivedOf(who, source)).map(({ delivery_id }: { delivery_id: string }) => delivery_id);
  assert.deepEqual(shown.reverse(), [...ids.slice(0, 2), "a\ufffdb", ...shown.slice(3, 4), ...ids.slice(4)]);
  assert.match(shown[3], /^a\ufffdb/);
});

test("a delivery id that is too long for the index still names one webhook", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "stripe", secret: secrets.stripe });
  const ids = ["a", "b", "a"].map((end) => `${"x".repeat(600)}${end}`);
  for (const id of ids)
    assert.equal((await ingest.post(source, sign("stripe", { body: `{"id":"${id}"}` }))).status, 202);
  const shown = (await receivedOf(who, source)).map(({ delivery_id }: { delivery_id: string }) => delivery_id);
  assert.deepEqual([shown.length, ...shown.map((id: string) => id.length)], [2, 512, 512]);
});

test("a proved webhook with 64 KiB in one header value is received, the value in its event", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { ...hmac, settings: { forwarded_headers: ["x-much"] } });
  const webhook = sign("hmac", { body: JSON.stringify("x".repeat(1_000_000)) });
  const much = randomBytes(32 * KiB).toString("hex");
  const begin = head(source, webhook, [`content-length: ${webhook.body.length}`, `x-much: ${much}`]);
  assert.match(await exchange([begin, webhook.body]), /^HTTP\/1\.1 202 /);
  const [event] = await ingest.eventsOf(who.accountId, 1, "webhook.received");
  assert.equal(Object(event?.data).headers["x-much"], much);
});

test("more than 80 KiB of headers are 431 in the usual form, although a body follows", async () => {
  const source = await ingest.newSource(testPerson(), hmac);
  const webhook = sign("hmac", { body: JSON.stringify("x".repeat(1_000_000)) });
  const lines = ["x-much", "x-more"].map((name) => `${name}: ${"x".repeat(40 * KiB)}`);
  const answer = await exchange([head(source, webhook, lines), webhook.body]);
  assert.match(answer, /^HTTP\/1\.1 431 [\s\S]*"code":"invalid_request"/);
});

test("JSON at its limits and beyond is taken: 129 levels, a mebibyte of numbers, no body at all", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const numbers = `[${"1e20,".repeat(209_000)}1e20]`;
  const statuses = [];
  const cases = [nested(128), nested(129), numbers, ""];
  for (const body of cases) {
    statuses.push((await ingest.post(source, sign("hmac", { body }))).status);
  }
  assert.deepEqual(statuses, [202, 202, 202, 202]);
});

test("every accepted body can be read back byte for byte", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const bytes = fc.uint8Array({ maxLength: 2_000 });
  await fc.assert(
    fc.asyncProperty(bytes, async (some) => {
      const id = crypto.randomUUID();
      // The same content signed at the same time is one webhook.
      const body = Buffer.concat([Buffer.from(id), some]);
      const { headers } = sign("hmac", { id, body });
      const typed = { ...headers, "content-type": "application/octet-stream" };
      assert.equal((await ingest.post(source, { headers: typed, body })).status, 202);
      const path = `${sourcesPath}/${source.id}/received`;
      const [item] = (await ingest.send(who, "GET", `${path}?delivery_id=${id}`)).body.items;
      const answer = await fetch(`${ingest.url}${path}/${item.id}/body`, { headers: who.headers });
      return Buffer.from(await answer.arrayBuffer()).equals(body);
    }),
    { numRuns: 30 },
  );
});

test("the digits of every number, and every other character of the JSON, reach the event as written", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const digits = fc.stringMatching(/^-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?$/);
  const texts = fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => JSON.stringify(text));
  const arrays = fc.array(fc.oneof(digits, texts), { maxLength: 20 }).map((items) => `[ ${items.join(" ,\n")}]`);
  const bodies = fc.sample(arrays, 30).map((items, nth) => `{"nth":${nth},"items":${items}}`);
  for (const body of bodies) assert.equal((await ingest.post(source, sign("hmac", { body }))).status, 202, body);
  const events = await ingest.eventsOf(who.accountId, bodies.length, "webhook.received");
  const written = events.map(({ dataJson }) => dataJson.toString("utf8"));
  for (const [nth, body] of bodies.entries()) assert.ok(written[nth]?.includes(`"payload":${body}`), body);
});
