import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { OFREPProvider } from "@openfeature/ofrep-provider";
import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";
import { OpenFeature as Server } from "@openfeature/server-sdk";
import { type Provider, ProviderEvents, OpenFeature as Web } from "@openfeature/web-sdk";
import { eventually, readStream, type StreamReader } from "@signalbox/testing";
import { createClient, expectStatus } from "../journey/client.ts";
import { type EmbeddedSystem, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());

let system: EmbeddedSystem;
let send: ReturnType<typeof createClient>;
let accountId: string;
let headers: Record<string, string>;

const values = {
  boolean: true,
  string: "blue",
  integer: 7,
  float: 0.5,
  object: { someName: [1, { innerName: null }] },
};
const setFlag = `mutation($input: SetFlagInput!) { setFlag(input: $input) { flag { revision } instances applied errors { field message } } }`;

/** Sets the flag and waits until every instance evaluates with it: a flag reaches them over the log. */
async function set(key: string, type: string, value: unknown, expectedRevision = "0"): Promise<string> {
  const basis = { key, type, state: "enabled", owner: "tests", reason: "test", waitForMs: 10_000 };
  const input = { ...basis, expectedRevision, variants: [{ name: "only", value }], default: "only", off: "only" };
  const { json } = expectStatus(await send("/graphql", { body: { query: setFlag, variables: { input } } }), 200);
  const { flag, instances, applied, errors } = json.data?.setFlag ?? {};
  assert.deepEqual([errors, applied > 0, applied], [[], true, instances], JSON.stringify(json));
  return flag.revision;
}

before(async () => {
  system = await startEmbeddedSystem();
  opened.defer(() => removeData(system));
  opened.defer(async () => void (await system.process.kill()));
  send = createClient(system.baseUrl, system.apiKey);
  headers = { "x-api-key": system.apiKey };
  accountId = expectStatus(await send("/api/account/"), 200).json.id;
  for (const [type, value] of Object.entries(values)) await set(`of.${type}`, type, value);
});

test("the server provider of OpenFeature, as it is, understands every type and every error", async () => {
  await Server.setProviderAndWait(new OFREPProvider({ baseUrl: system.baseUrl, headers }));
  opened.defer(() => Server.close());
  const client = Server.getClient();
  const context = { targetingKey: accountId };
  assert.equal(await client.getBooleanValue("of.boolean", false, context), true);
  assert.equal(await client.getStringValue("of.string", "", context), "blue");
  assert.equal(await client.getNumberValue("of.integer", 0, context), 7);
  assert.equal(await client.getNumberValue("of.float", 0, context), 0.5);
  assert.deepEqual(await client.getObjectValue("of.object", {}, context), values.object);
  const { variant, reason } = await client.getStringDetails("of.string", "", context);
  assert.deepEqual([variant, reason], ["only", "STATIC"]);
  const codeOf = async (key: string, given: Record<string, string>) =>
    (await client.getStringDetails(key, "mine", given)).errorCode;
  assert.equal(await codeOf("no.such", context), "FLAG_NOT_FOUND");
  assert.equal(await codeOf("of.string", {}), "TARGETING_KEY_MISSING");
  assert.equal(await codeOf("of.integer", context), "TYPE_MISMATCH");
  assert.equal(await codeOf("of.string", { ...context, large: "x".repeat(17_000) }), "INVALID_CONTEXT");
  assert.equal((await client.getStringDetails("no.such", "mine", context)).value, "mine");
});

test("the web provider of OpenFeature, as it is, keeps what it has by 304 and reads again when the stream says so", async () => {
  const source = eventSourceWith(headers);
  Object.assign(globalThis, { EventSource: source.EventSource });
  const statuses: number[] = [];
  const fetchImplementation = async (...given: Parameters<typeof fetch>) => {
    const response = await fetch(...given);
    statuses.push(response.status);
    return response;
  };
  const options = { baseUrl: system.baseUrl, headers: Object.entries(headers), fetchImplementation, pollInterval: 0 };
  const provider = new OFREPWebProvider({ ...options, cacheMode: "disabled" }) as Provider;
  await Web.setProviderAndWait(provider, { targetingKey: accountId });
  opened.defer(async () => {
    await Web.close();
    source.close();
  });
  const client = Web.getClient();
  assert.equal(client.getBooleanValue("of.boolean", false), true);
  assert.equal(client.getNumberValue("of.float", 0), 0.5);
  assert.deepEqual(client.getObjectValue("of.object", {}), values.object);
  assert.equal(client.getStringDetails("no.such", "mine").errorCode, "FLAG_NOT_FOUND");
  await Web.setContext({ targetingKey: accountId, page: "other" });
  assert.ok(statuses.includes(304), statuses.join());
  const changed = new Promise((resolve) => client.addHandler(ProviderEvents.ConfigurationChanged, resolve));
  await set("of.new", "string", "told");
  await changed;
  assert.equal(client.getStringValue("of.new", "mine"), "told");
});

test("a stopping process tells its streams when to come back; they resume where they were", async () => {
  const url = `${system.baseUrl}/api/v1/config/stream`;
  const streams = await Promise.all([readStream(url, headers), readStream(url, headers)]);
  const revision = await set("of.last", "string", "x");
  for (const { events } of streams)
    await eventually(() => events.some(({ id, data }) => id === revision && data !== null));
  assert.equal((await system.stop()).get("embedded"), 0);
  for (const { ended, events, lines } of streams) {
    await ended;
    assert.deepEqual(events.at(-1)?.data, { reason: "draining" });
    assert.match(lines.find((line) => line.startsWith("retry")) ?? "", /^retry: [1-9]\d{3}$/);
  }
  system = await startEmbeddedSystem({ dataDirectory: system.dataDirectory });
  const before = String(Number(revision) - 1);
  const again = await readStream(`${system.baseUrl}/api/v1/config/stream`, { ...headers, "last-event-id": before });
  opened.defer(() => again.close());
  const missed = await eventually(() => again.events.find(({ event }) => event === "flags") ?? null);
  assert.deepEqual(missed.data.values, { "of.last": { value: "x", variant: "only", reason: "STATIC" } });
});

/** An `EventSource` that sends credentials in a header, which a browser's cannot, and that can be closed. */
export function eventSourceWith(headers: Record<string, string>) {
  const open: StreamReader[] = [];
  class HeaderEventSource extends EventTarget {
    static readonly CONNECTING = 0;
    static readonly OPEN = 1;
    static readonly CLOSED = 2;
    readyState = HeaderEventSource.CONNECTING;
    #stream: StreamReader | null = null;

    constructor(url: string) {
      super();
      void this.#read(url);
    }

    close(): void {
      this.readyState = HeaderEventSource.CLOSED;
      this.#stream?.close();
    }

    async #read(url: string): Promise<void> {
      const stream = await readStream(url, headers, ({ event, data }) => {
        if (event === "message") this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(data) }));
      });
      this.#stream = stream;
      open.push(stream);
      this.readyState = HeaderEventSource.OPEN;
      this.dispatchEvent(new Event("open"));
    }
  }
  return { EventSource: HeaderEventSource, close: () => open.map((each) => each.close()) };
}
