import assert from "node:assert/strict";
import { channel } from "node:diagnostics_channel";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { eventually, type ServedListener, serveListener, testPerson } from "@signalbox/testing";
import { type Harness, startGateway } from "./harness.ts";

const composed = await readFile(new URL("../src/generated/supergraph.graphql", import.meta.url), "utf8");
const timezone = /^ {2}"""An IANA time zone\."""\n {2}timezone: String! @join__field\(graph: ACCOUNT\)\n/m;
const withoutTimezone = composed.replace(timezone, "");
const person = testPerson();
const asked = "{ viewer { id timezone } }";

/** The supergraph at the watched URL. */
let served = composed;
let source: ServedListener;
let gateway: Harness;
before(async () => {
  assert.notEqual(withoutTimezone, composed);
  source = await serveListener((_request, response) => void response.end(served));
  gateway = await startGateway({ "graphql.supergraph": `${source.url}/supergraph.graphql` });
});
after(async () => {
  await gateway.close();
  await source.close();
});

const knowsTimezone = async () => {
  const { body } = await gateway.query(person, asked);
  return body.errors?.[0]?.extensions.code !== "VALIDATION_FAILED";
};
const failures = async () => {
  const text = await gateway.context.metrics.text();
  return Number(/reload_failures_total{[^}]*source="supergraph"[^}]*} (\d+)/.exec(text)?.[1]);
};

test("a changed supergraph is in force without a restart, except for what is under way", async () => {
  assert.equal(await knowsTimezone(), true);
  const images = gateway.subgraphs.get("images") ?? assert.fail();
  let finish: (() => void) | null = null;
  images.instead = (_request, response) => {
    finish = () => void response.end(JSON.stringify({ data: { _entities: [{ images: { edges: [] } }] } }));
  };
  const underWay = gateway.query(person, "{ viewer { images { edges { cursor } } } }");
  await eventually(() => finish !== null);
  served = withoutTimezone;
  await eventually(async () => !(await knowsTimezone()));
  images.instead = null;
  (finish ?? assert.fail)();
  assert.deepEqual((await underWay).body, { data: { viewer: { images: { edges: [] } } } });
  assert.deepEqual((await gateway.query(person, "{ viewer { id } }")).body, {
    data: { viewer: { id: person.accountId } },
  });
});

test("a supergraph that is refused raises a metric while the one before stays in force", async () => {
  const before = await failures();
  served = composed.replace(/name: "images"/, 'name: "elsewhere"');
  await eventually(async () => (await failures()) > before);
  assert.deepEqual((await gateway.query(person, "{ viewer { id } }")).body.errors, undefined);
  assert.equal(await knowsTimezone(), false);
  served = composed;
  await eventually(knowsTimezone);
});

const addresses = new Set<string>();
// Node tells of every client socket; a name that does not resolve is an attempt too.
channel("net.client.socket").subscribe((message) => {
  const { socket } = message as { socket: import("node:net").Socket };
  socket.on("lookup", (_error, address, _family, host) => void addresses.add(address ?? host));
  socket.on("connectionAttempt", (ip) => void addresses.add(ip));
});

let quietGateway: Harness | undefined;
after(() => quietGateway?.close());

test("a gateway connects to nothing that is not configured", async () => {
  quietGateway = await startGateway();
  assert.equal((await quietGateway.query(testPerson(), "{ viewer { id } }")).status, 200);
  assert.ok(addresses.size > 0, "the subgraphs were called");
  // A path is the Unix socket of PostgreSQL.
  const isOfThisMachine = (address: string) =>
    ["127.0.0.1", "::1", "localhost"].includes(address) || address[0] === "/";
  assert.deepEqual(
    [...addresses].filter((address) => !isOfThisMachine(address)),
    [],
  );
});
