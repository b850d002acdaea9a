import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { eventually, readStream, type TestPerson, testPerson } from "@signalbox/testing";
import { createClient } from "graphql-sse";
import { WebSocket } from "ws";
import { type Harness, startGateway } from "./harness.ts";
import { changeImage, listen, liveClient, ready, socketUrl } from "./live-client.ts";

let gateway: Harness;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

const protocol = "graphql-transport-ws";
const all = "subscription { imageChanged { cursor changed } }";

interface Socket {
  readonly messages: { readonly type: string; readonly id?: string; readonly payload?: never }[];
  readonly socket: WebSocket;
  /** The code that it was closed with; null while it is open. */
  closed: number | null;
  send(...messages: readonly (object | string)[]): void;
}

async function open(options: { headers?: Record<string, string>; protocols?: string } = {}): Promise<Socket> {
  const socket = new WebSocket(socketUrl(gateway), options.protocols ?? protocol, { headers: options.headers ?? {} });
  const messages: Socket["messages"] = [];
  const opened: Socket = {
    socket,
    messages,
    closed: null,
    send: (...sent) => {
      for (const one of sent) socket.send(typeof one === "string" ? one : JSON.stringify(one));
    },
  };
  socket.on("message", (data) => messages.push(JSON.parse(String(data))));
  socket.on("close", (code) => {
    opened.closed = code;
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  socket.on("error", () => {});
  return opened;
}

const init = (who: TestPerson | null) => ({ type: "connection_init", payload: { ...who?.headers } });
const subscribe = (id: string, query = all) => ({ id, type: "subscribe", payload: { query } });

/** Messages of a client, with the code that closes the connection. */
const wrong: readonly [string, number, (person: TestPerson) => readonly (object | string)[]][] = [
  ["what is no JSON", 4400, () => ["{"]],
  ["a message of no known type", 4400, (person) => [init(person), { type: "start" }]],
  ["a subscription before the connection is acknowledged", 4401, () => [subscribe("1")]],
  ["two inits", 4429, (person) => [init(person), init(person)]],
  ["the same id twice", 4409, (person) => [init(person), subscribe("1"), subscribe("1")]],
  ["a bad credential", 4403, () => [{ type: "connection_init", payload: { authorization: "Bearer no" } }]],
  ["a message that is too large", 1009, (person) => [init(person), subscribe("1", " ".repeat(70_000))]],
];

for (const [what, code, messages] of wrong) {
  test(`${what} closes the connection with ${code}`, async () => {
    const client = await open();
    const sent = messages(testPerson());
    for (const [at, message] of sent.entries()) {
      client.send(message);
      // Some are wrong only after what came before was answered.
      if (at === 0 && code !== 4429) await eventually(() => client.closed !== null || client.messages.length > 0);
    }
    await eventually(() => client.closed !== null);
    assert.equal(client.closed, code);
  });
}

const nextOf = (client: Socket, id: string) => client.messages.filter((one) => one.type === "next" && one.id === id);
const openSubscriptions = async () =>
  Number(/^signalbox_live_subscriptions(?:{[^}]*})? (\d+)/m.exec(await gateway.context.metrics.text())?.[1]);

/** Messages of a client that use an id again, with the number of subscriptions that they leave. */
const reused: readonly [string, readonly object[], number][] = [
  ["completed and begun again in one packet", [subscribe("x"), { id: "x", type: "complete" }, subscribe("x")], 1],
  ["completed before it has begun", [subscribe("x"), { id: "x", type: "complete" }], 0],
];

for (const [what, messages, left] of reused) {
  test(`a subscription that is ${what} leaves ${left}`, async () => {
    const person = testPerson();
    const client = await open();
    client.send(init(person));
    await eventually(() => client.messages.length > 0);
    const { _socket: tcp } = client.socket as unknown as { _socket: { cork(): void; uncork(): void } };
    tcp.cork();
    client.send(...messages);
    tcp.uncork();
    client.send(subscribe("last"));
    await eventually(async () => {
      await changeImage(gateway, person.accountId, ["warm-up"]);
      return nextOf(client, "last").length > 0;
    });
    await eventually(async () => (await openSubscriptions()) === left + 1);
    await changeImage(gateway, person.accountId, ["told"]);
    const isTold = ({ payload }: Socket["messages"][number]) => JSON.stringify(payload).includes('["told"]');
    await eventually(() => nextOf(client, "last").some(isTold));
    assert.equal(nextOf(client, "x").filter(isTold).length, left);
    assert.ok(!client.messages.some(({ type }) => type === "complete" || type === "error"));
    client.socket.terminate();
    await eventually(async () => (await openSubscriptions()) === 0);
  });
}

test("a connection that does not begin is closed with 4408", async () => {
  const client = await open();
  await eventually(() => client.closed !== null);
  assert.equal(client.closed, 4408);
});

test("a connection of another protocol, or cut off in a message, harms nobody", async () => {
  await assert.rejects(open({ protocols: "graphql-ws" }), /subprotocol/);
  const torn = await open();
  torn.send(init(testPerson()));
  (torn.socket as unknown as { _socket: { write(bytes: Buffer): void; destroy(): void } })._socket.write(
    Buffer.from([0x81, 0xfe, 0x10]),
  );
  torn.socket.terminate();
  const whole = await open();
  whole.send(init(testPerson()));
  await eventually(() => whole.messages.some(({ type }) => type === "connection_ack"));
  whole.socket.terminate();
});

test("credentials in headers count, except those from a foreign page in a browser", async () => {
  const person = testPerson();
  const foreign = await open({ headers: { ...person.headers, origin: "https://elsewhere.example" } });
  const program = await open({ headers: person.headers });
  for (const client of [foreign, program]) client.send({ type: "connection_init" });
  await eventually(() => [foreign, program].every(({ messages }) => messages.length > 0));
  for (const client of [foreign, program]) client.send(subscribe("1", "{ viewer { id } }"));
  await eventually(() => [foreign, program].every(({ messages }) => messages.length > 1));
  const dataOf = ({ messages }: Socket) => (messages[1] as { payload?: { data?: object } } | undefined)?.payload?.data;
  assert.deepEqual(dataOf(foreign), { viewer: null });
  assert.deepEqual(dataOf(program), { viewer: { id: person.accountId } });
  for (const { socket } of [foreign, program]) socket.terminate();
});

test("a connection ends with its credential unless a ping brings another one of the account", async () => {
  const soon = { expiresAtMs: Date.now() + 3_000 };
  const renewing = testPerson(soon);
  const clients = await Promise.all([open(), open(), open()]);
  const [renewed, foreign, expiring] = clients as [Socket, Socket, Socket];
  for (const [client, person] of [
    [renewed, renewing],
    [foreign, testPerson()],
    [expiring, testPerson(soon)],
  ] as const)
    client.send(init(person));
  await eventually(() => clients.every(({ messages }) => messages.length > 0));
  renewed.send({ type: "ping", payload: { ...testPerson({ accountId: renewing.accountId }).headers } });
  foreign.send({ type: "ping", payload: { ...testPerson().headers } });
  await eventually(() => foreign.closed !== null && expiring.closed !== null);
  assert.deepEqual([foreign.closed, expiring.closed], [4403, 4403]);
  renewed.send(subscribe("1", "{ viewer { id } }"));
  const answer = await eventually(() => renewed.messages.find(({ type }) => type === "next") ?? null);
  assert.deepEqual(answer.payload, { data: { viewer: { id: renewing.accountId } } });
  renewed.socket.terminate();
});

test("operations on a socket count as requests do", async () => {
  await using opened = new AsyncDisposableStack();
  const strict = await startGateway({ "http.rate-limit.credential.requests": "3" });
  opened.defer(() => strict.close());
  const client = liveClient(strict, testPerson(), { lazy: false });
  opened.defer(async () => client.dispose());
  const heard = Array.from({ length: 8 }, () => listen(client, "{ __typename }"));
  await eventually(() => heard.every(({ ended }) => ended !== null));
  const refused = heard.filter(({ ended }) => ended !== "complete");
  assert.ok(refused.length >= 1 && refused.length < 8);
  assert.equal(refused[0]?.ended[0].extensions.code, "RATE_LIMITED");
});

test("a credential has twenty connections of a hundred subscriptions each", async () => {
  const person = testPerson();
  const clients = await Promise.all(Array.from({ length: 21 }, () => open()));
  for (const client of clients) client.send(init(person));
  await eventually(() => clients.every(({ closed, messages }) => closed !== null || messages.length > 0));
  const isClosed = await eventually(() => clients.filter(({ closed }) => closed === 4429).length === 1);
  assert.ok(isClosed);
  const one = clients.find(({ closed }) => closed === null) ?? assert.fail();
  one.send(...Array.from({ length: 101 }, (_, at) => subscribe(`s${at}`)));
  const refused = await eventually(() => one.messages.find(({ type }) => type === "error") ?? null);
  assert.equal(refused.id, "s100");
  for (const { socket } of clients) socket.terminate();
});

test("a client that reads too slowly is told the cursor from which it loses nothing", async () => {
  const person = testPerson();
  const client = await open();
  client.send(init(person));
  await eventually(() => client.messages.length > 0);
  client.send(subscribe("slow"));
  const watching = liveClient(gateway, person);
  const watched = listen(watching, all);
  await ready(gateway, person, watched);
  await eventually(() => client.messages.some(({ type }) => type === "next"));
  client.socket.pause();
  const names = Array.from({ length: 60 }, (_, at) => `${at} ${"x".repeat(50_000)}`);
  for (let round = 0; round < 8; round++)
    await changeImage(gateway, person.accountId, names.slice(round * 7, round * 7 + 7));
  await changeImage(
    gateway,
    person.accountId,
    Array.from({ length: 600 }, (_, at) => `few ${at} ${"y".repeat(20_000)}`),
  );
  await eventually(async () =>
    /subscriptions_ended_total{[^}]*SLOW_CONSUMER[^}]*} [1-9]/.test(await gateway.context.metrics.text()),
  );
  client.socket.resume();
  const error = await eventually(() => client.messages.find(({ type }) => type === "error") ?? null);
  const [{ extensions }] = (error.payload ?? []) as unknown as [{ extensions: { code: string; cursor: string } }];
  assert.equal(extensions.code, "SLOW_CONSUMER");
  const told = client.messages.filter(({ type }) => type === "next").length;
  const again = listen(watching, all, { resumeAfter: extensions.cursor });
  await changeImage(gateway, person.accountId, ["last"]);
  await eventually(() => again.ended || again.results.at(-1)?.data.imageChanged.changed[0] === "last");
  assert.equal(again.ended, null);
  assert.ok(told > 0 && again.results.length > 0);
  client.socket.terminate();
  await watching.dispose();
});

test("graphql-sse hears the same, resuming after its last event id", async () => {
  const person = testPerson();
  const client = createClient({ url: `${gateway.url}/graphql`, headers: person.headers, retryAttempts: 0 });
  // biome-ignore lint/suspicious/noExplicitAny: the test asserts the members it reads.
  const results: any[] = [];
  const stop = client.subscribe(
    { query: all },
    { next: (result) => void results.push(result), error() {}, complete() {} },
  );
  await eventually(async () => {
    await changeImage(gateway, person.accountId, ["warm-up"]);
    return results.length > 0;
  });
  stop();
  const { cursor } = results.at(-1).data.imageChanged;
  await changeImage(gateway, person.accountId, ["missed", "too"]);
  const response = await fetch(`${gateway.url}/graphql?query=${encodeURIComponent(all)}`, {
    headers: { ...person.headers, accept: "text/event-stream", "last-event-id": cursor },
  });
  assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes('"too"')) break;
  }
  const titles = [...text.matchAll(/^data: (.+)$/gm)].flatMap(
    ([, data]) => JSON.parse(data ?? "").data.imageChanged.changed,
  );
  assert.deepEqual(
    titles.filter((title: string) => title !== "warm-up"),
    ["missed", "too"],
  );
  assert.equal(text.match(/^id: .+\nevent: next$/gm)?.length, titles.length);
  client.dispose();
});

test("an event stream that is cut off before its first message goes on from the cursor of its opening comment", async () => {
  const person = testPerson();
  const url = `${gateway.url}/graphql?query=${encodeURIComponent(all)}`;
  const opened = await readStream(url, { ...person.headers, accept: "text/event-stream" });
  const { id = assert.fail() } = await eventually(() => opened.events[0] ?? null);
  assert.deepEqual(opened.lines, [`: cursor ${id}`]);
  opened.close();
  await opened.ended;
  await changeImage(gateway, person.accountId, ["missed"]);
  const again = await readStream(url, { ...person.headers, accept: "text/event-stream", "last-event-id": id });
  const missed = await eventually(() => again.events.find(({ event }) => event === "next") ?? null);
  assert.deepEqual(missed.data.data.imageChanged.changed, ["missed"]);
  assert.equal(again.events[0]?.id, id);
  again.close();
});

test("a socket that is cut off before its first message goes on from the cursor of the ping", async () => {
  const person = testPerson();
  const client = await open();
  client.send(init(person));
  await eventually(() => client.messages.length > 0);
  client.send(subscribe("1"));
  const ping = await eventually(() => client.messages.find(({ type }) => type === "ping") ?? null);
  const { id, cursor } = ping.payload as unknown as { id: string; cursor: string };
  assert.equal(id, "1");
  client.socket.terminate();
  await changeImage(gateway, person.accountId, ["missed"]);
  const watching = liveClient(gateway, person);
  const again = listen(watching, all, { resumeAfter: cursor });
  await eventually(() => again.ended || again.results.length > 0);
  assert.deepEqual(again.results[0]?.data.imageChanged.changed, ["missed"]);
  await watching.dispose();
});

test("what is refused before a stream begins is an answer; a query is a stream of one", async () => {
  const headers = {
    ...testPerson({ scopes: ["account:read"] }).headers,
    accept: "text/event-stream",
    "content-type": "application/json",
  };
  const send = (query: string) =>
    fetch(`${gateway.url}/graphql`, { method: "POST", headers, body: JSON.stringify({ query }) });
  const codeIn = async (response: Response) =>
    ((await response.json()) as { errors: [{ extensions: { code: string } }] }).errors[0].extensions.code;
  const refused = await send(all);
  assert.deepEqual([refused.status, await codeIn(refused)], [403, "FORBIDDEN"]);
  const wrongField = await send("subscription { nothing }");
  assert.deepEqual([wrongField.status, await codeIn(wrongField)], [400, "VALIDATION_FAILED"]);
  const query = await send("{ serverSettings { locale } }");
  assert.equal(
    await query.text(),
    'event: next\ndata: {"data":{"serverSettings":{"locale":"en"}}}\n\nevent: complete\ndata:\n\n',
  );
});

test("an upgrade to something else is refused", async () => {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  socket.write(
    "GET /elsewhere HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  let text = "";
  socket.on("data", (data) => {
    text += data;
  });
  await eventually(() => text.includes("\r\n\r\n"));
  assert.match(text, /^HTTP\/1\.1 404 /);
  socket.destroy();
});

test("an instance that stops ends each subscription with its cursor, each connection with 1012", async () => {
  await using opened = new AsyncDisposableStack();
  const stopping = await startGateway();
  opened.defer(() => stopping.close());
  const person = testPerson();
  const client = liveClient(stopping, person, { lazy: false });
  const heard = listen(client, all);
  await ready(stopping, person, heard);
  let code: number | null = null;
  client.on("closed", (event) => {
    code = (event as { code: number }).code;
  });
  await stopping.context.close();
  await eventually(() => heard.ended && code !== null);
  assert.equal(heard.ended[0].extensions.code, "DRAINING");
  assert.ok(heard.ended[0].extensions.cursor);
  assert.equal(code, 1012);
});
