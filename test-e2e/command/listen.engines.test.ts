import assert from "node:assert/strict";
import { test } from "node:test";
import { freePort } from "@signalbox/infra/engines/free-port.ts";
import { createReceiver, createTcpProxy, eventually } from "@signalbox/testing";
import { createClient, expectStatus } from "../journey/client.ts";
import { removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { createPerson } from "./run-signalbox.ts";

const reconnects = 100;

test("listen shows every event once, through 100 lost connections and a killed server", async (t) => {
  const port = await freePort();
  const properties = { "http.port": String(port), "http.rate-limit.anonymous.requests": "100000" };
  let system = await startEmbeddedSystem({ properties });
  const proxy = await createTcpProxy({ port });
  const receiver = await createReceiver();
  t.after(async () => {
    await system.process.kill();
    await Promise.all([removeData(system), receiver.close(), proxy.close()]);
  });
  const person = await createPerson(t, { baseUrl: `http://127.0.0.1:${proxy.port}`, apiKey: system.apiKey });
  const listener = person.start(["listen", "--forward", receiver.url, "--events", "order.*", "--json"]);
  await listener.waitForOutput(/signing secret/);

  const published: string[] = [];
  const publish = async () => {
    const send = createClient(system.baseUrl, system.apiKey);
    const body = { type: "order.created", data: { number: published.length } };
    const { json } = expectStatus(await send("/api/v1/webhooks/events", { body }), 202);
    published.push(json.items[0].id);
  };
  const lost = () => listener.stderr.split("Reconnecting: ").length - 1;
  const connectedAgain = () => listener.stderr.split("Connected again").length - 1;
  // The first connection stands once an event came through it.
  await publish();
  await receiver.waitFor(() => true);
  for (let round = 1; round <= reconnects; round++) {
    const before = lost();
    await publish();
    proxy.cut();
    await eventually(() => lost() > before, { message: `connection ${round} is lost` });
    await eventually(() => connectedAgain() >= round, { message: `connection ${round} is there again` });
  }

  // The attempt is under way when the server dies, so its outcome finds nobody who hears it.
  const { promise: killed, resolve: goOn } = deferred();
  receiver.answer(async () => {
    await killed;
    return {};
  });
  await publish();
  await receiver.waitFor(({ headers }) => headers["webhook-id"] === published.at(-1));
  await system.process.kill();
  goOn();
  system = await startEmbeddedSystem({ properties, dataDirectory: system.dataDirectory });
  await publish();

  const received = () => receiver.requests.map(({ headers }) => String(headers["webhook-id"]));
  await eventually(() => new Set(received()).size === published.length, { timeoutMs: 120_000 });
  const endpoint = /Endpoint (whe_\w+)/.exec(listener.stderr)?.[1];
  const waiting = async () => {
    const path = `/api/v1/webhooks/deliveries?endpoint_id=${endpoint}&status=pending`;
    return (await createClient(system.baseUrl, system.apiKey)(path)).json.items.length === 0;
  };
  await eventually(waiting, { timeoutMs: 120_000, message: "Signalbox has heard of every outcome" });
  assert.deepEqual(received().sort(), published.toSorted(), "each event was forwarded once");
  listener.signal("SIGINT");
  assert.equal((await listener.exited).code, 0, listener.stderr);
  const shown = listener.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).event);
  assert.deepEqual(shown.sort(), published.toSorted(), "each event is shown once");
  assert.doesNotMatch(listener.stderr, /without a listener/, "it was one endpoint all the time");
});

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
