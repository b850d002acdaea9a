import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Answer, openTestClient } from "../test/test-server.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const query = "subscription { accountChanged { changed } }";
const next = (id: string, changed: string) =>
  `id: ${id}\nevent: next\ndata: {"data":{"accountChanged":{"changed":["${changed}"]}}}\n\n`;
const failed = (code: string, more = "") =>
  `event: next\ndata: {"errors":[{"message":"Over.","extensions":{"code":"${code}"${more}}}]}\n\nevent: complete\ndata:\n\n`;
const complete = "event: complete\ndata:\n\n";

/** A stream of these texts; it hangs up after them unless it stays open. */
const streamOf =
  (texts: readonly string[], end: "end" | "open" | "hang up" = "end"): Answer =>
  async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const text of texts) await new Promise((resolve) => response.write(text, resolve));
    if (end === "end") response.end();
    if (end === "hang up") response.destroy();
  };
const noWait = { wait: async () => undefined };

test("messages come with the cursor after them, however their bytes are cut", async (t) => {
  const text = `: cursor 0\nid: c0\n\n${next("c1", "näme")}${next("c2", "b").replaceAll("\n", "\r\n")}${complete}`;
  const bytes = Buffer.from(text);
  const { client, received } = await openTestClient(t, () => async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const byte of bytes) await new Promise((resolve) => response.write(Buffer.from([byte]), resolve));
    response.end();
  });
  const seen: unknown[] = [];
  for await (const { data, cursor } of client.subscribe<{ accountChanged: { changed: string[] } }>(query, {
    variables: { a: 1 },
  }))
    seen.push([data.accountChanged.changed[0], cursor]);
  assert.deepEqual(seen, [
    ["näme", "c1"],
    ["b", "c2"],
  ]);
  assert.deepEqual(JSON.parse(String(received[0]?.body)), { query, variables: { a: 1 } });
  assert.equal(received[0]?.headers.accept, "text/event-stream");
});

test("a broken connection resumes after the last cursor, that of a ping included", async (t) => {
  const answers: Answer[] = [
    streamOf(["id: c0\n\n", next("c1", "a")], "hang up"),
    null,
    { status: 502, body: {} },
    streamOf([": cursor c5\nid: c5\n\n"]),
    streamOf([next("c6", "b"), complete]),
  ];
  const { client, received } = await openTestClient(t, (_received, index) => answers[index] ?? null, {
    retry: { triesMax: 1 },
  });
  const seen: (string | null)[] = [];
  for await (const { cursor } of client.subscribe(query, { cursor: "start", ...noWait })) seen.push(cursor);
  assert.deepEqual(seen, ["c1", "c6"]);
  assert.deepEqual(
    received.map(({ headers }) => headers["last-event-id"]),
    ["start", "c1", "c1", "c1", "c5"],
  );
});

test("a reader is told of every cursor and every connection as they come", async (t) => {
  const answers: Answer[] = [
    streamOf([": cursor c0\nid: c0\n\n", next("c1", "a")], "hang up"),
    { status: 502, body: {} },
    streamOf([": cursor c5\nid: c5\n\n", next("c6", "b"), complete]),
  ];
  const { client } = await openTestClient(t, (_received, index) => answers[index] ?? null, { retry: { triesMax: 1 } });
  const told: unknown[] = [];
  const follow = {
    onConnection: (isOpen: boolean) => void told.push(isOpen),
    onCursor: (cursor: string) => void told.push(cursor),
  };
  for await (const { cursor } of client.subscribe(query, { ...follow, ...noWait })) told.push(`message ${cursor}`);
  assert.deepEqual(told, [true, "c0", "c1", "message c1", false, false, true, "c5", "c6", "message c6"]);
});

test("a subscription that an instance ends is taken up at the cursor it names", async (t) => {
  const answers = [
    streamOf([next("c1", "a"), failed("DRAINING", ',"cursor":"c2"')]),
    streamOf([next("c3", "b"), failed("SLOW_CONSUMER")]),
    streamOf([next("c4", "c"), complete]),
  ];
  const { client, received } = await openTestClient(t, (_received, index) => answers[index] ?? null);
  const seen: (string | null)[] = [];
  for await (const { cursor } of client.subscribe(query, noWait)) seen.push(cursor);
  assert.deepEqual(seen, ["c1", "c3", "c4"]);
  assert.deepEqual(
    received.map(({ headers }) => headers["last-event-id"]),
    [undefined, "c2", "c3"],
  );
});

test("an end for good or a refusal is thrown with its code", async (t) => {
  const expired = await openTestClient(t, () => streamOf([next("c1", "a"), failed("CURSOR_EXPIRED")]));
  const all = async (messages: AsyncIterable<unknown>) => {
    for await (const _one of messages);
  };
  await assert.rejects(all(expired.client.subscribe(query)), {
    name: "SubscriptionError",
    code: "CURSOR_EXPIRED",
    cursor: "c1",
  });
  const body = { error: { code: "unauthorized", message: "No." } };
  const refused = await openTestClient(t, () => ({ status: 401, body }));
  await assert.rejects(all(refused.client.subscribe(query)), { code: "unauthorized" });
  const later = await openTestClient(t, (_received, index) =>
    index === 0 ? streamOf([next("c1", "a")]) : { status: 401, body },
  );
  await assert.rejects(all(later.client.subscribe(query, noWait)), { code: "unauthorized" });
  const away = await openTestClient(t, () => null);
  await assert.rejects(all(away.client.subscribe(query)), TypeError, "a first connection that fails is no stream");
});

test("a signal or the end of the loop closes the connection", async (t) => {
  const stop = new AbortController();
  const closed: Promise<unknown>[] = [];
  const { client } = await openTestClient(t, () => async (response) => {
    closed.push(new Promise((resolve) => response.once("close", resolve)));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(next("c1", "a"));
  });
  for await (const _one of client.subscribe(query)) break;
  for await (const _one of client.subscribe(query, { signal: stop.signal })) stop.abort();
  await Promise.all(closed);
  assert.equal(closed.length, 2);
});

test("a signal ends a stream long after it began", { timeout: 20_000 }, async (t) => {
  const stop = new AbortController();
  const { client } = await openTestClient(t, () => streamOf([next("c1", "a")], "open"));
  const isOpen = Promise.withResolvers<void>();
  const options = { signal: stop.signal, onConnection: () => isOpen.resolve() };
  const seen: unknown[] = [];
  const follow = async () => {
    for await (const one of client.subscribe(query, options)) seen.push(one);
  };
  const following = follow();
  await isOpen.promise;
  await sleep(100);
  collectGarbage();
  stop.abort();
  await following;
  assert.equal(seen.length, 1);
});

test("a connection that falls silent is made again", async (t) => {
  const answers = [streamOf([next("c1", "a")], "open"), streamOf([next("c2", "b"), complete])];
  const { client } = await openTestClient(t, (_received, index) => answers[index] ?? null);
  const seen: (string | null)[] = [];
  for await (const { cursor } of client.subscribe(query, { silenceMsMax: 20, ...noWait })) seen.push(cursor);
  assert.deepEqual(seen, ["c1", "c2"]);
});

test("changes of configuration go on over the end of an instance, after the wait that it asks for", async (t) => {
  const change = (id: number, name: string) =>
    `id: ${id}\nevent: ${name}\ndata: {"revision":"${id}","names":["a"],"values":{"a":1}}\n\n`;
  const answers = [
    streamOf([
      ": connected\n\n",
      change(1, "settings"),
      'data: {"type":"refetchEvaluation"}\n\n',
      'retry: 2000\nevent: end\ndata: {"reason":"draining"}\n\n',
    ]),
    streamOf([change(2, "reset"), 'event: end\ndata: {"reason":"switched_off"}\n\n']),
  ];
  const { client, received } = await openTestClient(t, (_received, index) => answers[index] ?? null);
  const waits: number[] = [];
  const seen: unknown[] = [];
  for await (const { type, cursor, data } of client.configChanges({ wait: async (ms) => void waits.push(ms) }))
    seen.push([type, cursor, data.names?.[0]]);
  assert.deepEqual(seen, [
    ["settings", "1", "a"],
    ["reset", "2", "a"],
  ]);
  assert.equal(received[1]?.headers["last-event-id"], "1");
  assert.ok(waits.length === 1 && (waits[0] ?? 0) >= 1000, String(waits));
});
