import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { environment } from "@signalbox/config";
import { seconds } from "@signalbox/core";
import { publishEvents } from "@signalbox/events";
import {
  createReceiver,
  createSender,
  eventually,
  freePort,
  internalToken,
  killInTurn,
  type Receiver,
  sendEvenly,
  startAccountStandIn,
  startEngine,
  startProcess,
  superviseProcess,
  type TestPerson,
  testContext,
  testEventLog,
  testPerson,
} from "@signalbox/testing";
import { endpointsPath, imageCreated } from "./harness.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const instances = 3;
const perSecond = 300;
/** `DELIVERY_STORM_SECONDS=60` makes it the long run. */
const stormMs = seconds(Number(environment().DELIVERY_STORM_SECONDS ?? 10));
const openMax = 150;
const failedShare = 0.02;

for (const [mode, log] of [
  ["embedded", "postgres"],
  ["engines", "kafka"],
] as const) {
  test(`${mode}: through any kills, every accepted event arrives, always under one delivery id`, async (context) => {
    await using opened = new AsyncDisposableStack();
    const system = await startSystem(opened, log);
    const publisher = startPublisher(system);
    const killed = await killInTurn({ ...system, forMs: stormMs });
    const published = await publisher.finish();
    const missing = () => without(published, arrivedAt(system.receiver));
    // The leases of a killed instance are free after 15 s.
    await eventually(() => missing().length === 0, { timeoutMs: 120_000 }).catch(() => {});
    assert.deepEqual(missing().slice(0, 10), [], `${missing().length} of ${published.size} never arrived`);
    assert.deepEqual(without(arrivedAt(system.receiver), publisher.started).slice(0, 10), []);
    assert.deepEqual(deliveredTwice(system.receiver), []);
    const requests = system.receiver.requests.length;
    context.diagnostic(`${published.size} events, ${requests} requests, killed ${JSON.stringify(killed)}`);
  });
}

const without = (all: ReadonlySet<string>, those: ReadonlySet<string>) => [...all].filter((one) => !those.has(one));

type System = Awaited<ReturnType<typeof startSystem>>;

/** Three instances on a database and a log of their own, and an endpoint whose receiver fails now and then. */
async function startSystem(opened: AsyncDisposableStack, logEngine: "postgres" | "kafka") {
  const [database, log] = await Promise.all([startEngine("postgres"), startEngine(logEngine)]);
  for (const engine of [database, log]) opened.defer(() => engine.close());
  const [account, receiver] = await Promise.all([startAccountStandIn(), createReceiver()]);
  for (const part of [account, receiver]) opened.defer(() => part.close());
  const eventsUrl = logEngine === "postgres" ? log.url.replace(/^postgresql:/, "postgres:") : log.url;
  const parts = testContext("webhook-delivery", {});
  opened.defer(() => parts.close());
  const eventLog = await testEventLog(eventsUrl, parts);
  const ports = await Promise.all(Array.from({ length: instances }, () => freePort()));
  const processes = ports.map((port) =>
    superviseProcess(() => startInstance(port, { databaseUrl: database.url, eventsUrl, accountUrl: account.url })),
  );
  opened.defer(async () => void (await Promise.all(processes.map(({ end }) => end()))));
  const senders = ports.map((port) => createSender(`http://127.0.0.1:${port}`));
  const who = testPerson();
  await Promise.all(senders.map((send) => untilReady(send, who)));
  const settings = { retry_schedule_seconds: [0, 1, 1, 1, 1, 1, 1, 1, 1, 1] };
  const endpoint = { url: receiver.url, event_types: ["order.paid", "image.created"], settings };
  assert.equal((await senders[0]?.(who, "POST", endpointsPath, { body: endpoint }))?.status, 201);
  receiver.answer(() => ({ status: Math.random() < failedShare ? 500 : 200 }));
  const publish = (event: ReturnType<typeof imageCreated>) =>
    publishEvents({ ...parts, eventLog, service: "images" }, [event]);
  return { database, log, processes, receiver, senders, who, publish };
}

const untilReady = (send: ReturnType<typeof createSender>, who: TestPerson) =>
  eventually(async () => (await send(who, "GET", endpointsPath).catch(() => null))?.status === 200, {
    timeoutMs: 60_000,
  });

async function startInstance(
  port: number,
  { databaseUrl, eventsUrl, accountUrl }: Readonly<Record<"databaseUrl" | "eventsUrl" | "accountUrl", string>>,
) {
  return startProcess(main, [], {
    SIGNALBOX_DATABASE_URL: databaseUrl,
    SIGNALBOX_EVENTS_URL: eventsUrl,
    SIGNALBOX_CACHE_URL: "memory:",
    SIGNALBOX_INTERNAL_TOKEN: internalToken,
    SIGNALBOX_ACCOUNT_INTERNAL_URL: accountUrl,
    SIGNALBOX_SECRETS_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
    SIGNALBOX_HTTP_PORT: String(port),
    SIGNALBOX_MANAGEMENT_SERVER_PORT: String(await freePort()),
    SIGNALBOX_WEBHOOK_DELIVERY_OUTBOUND_ALLOW: "127.0.0.1:*",
    // One person publishes all of it.
    SIGNALBOX_HTTP_RATE_LIMIT_CREDENTIAL_REQUESTS: "1000000",
    SIGNALBOX_HTTP_RATE_LIMIT_CREDENTIAL_BURST: "1000000",
    SIGNALBOX_HTTP_RATE_LIMIT_ACCOUNT_REQUESTS: "1000000",
    SIGNALBOX_LOG_LEVEL: "error",
  });
}

/** Publishes by turns over HTTP and on the log, each event again until it is accepted. */
function startPublisher({ senders, who, publish }: System) {
  const started = new Set<string>();
  const taken = new Set<string>();

  async function overHttp(nth: number): Promise<boolean> {
    const body = { id: `order-${nth}`, type: "order.paid", data: { nth } };
    const send = senders[Math.floor(Math.random() * senders.length)];
    const answer = await send?.(who, "POST", "/api/v1/webhooks/events", { body }).catch(() => null);
    return answer?.status === 202;
  }

  const onLog = (event: ReturnType<typeof imageCreated>): Promise<boolean> =>
    publish(event).then(
      () => true,
      () => false,
    );

  async function publishUntilTaken(nth: number): Promise<void> {
    const event = imageCreated(who.accountId);
    const id = nth % 2 === 0 ? `order-${nth}` : event.subject;
    started.add(id);
    while (!(nth % 2 === 0 ? await overHttp(nth) : await onLog(event))) await sleep(500 + Math.random() * 1_000);
    taken.add(id);
  }

  const publishing = sendEvenly({ perSecond, openMax, send: publishUntilTaken });
  return {
    started,
    /** Stops publishing, waits until each event was accepted, and returns their ids. */
    async finish(): Promise<Set<string>> {
      await publishing.finish();
      return taken;
    },
  };
}

/** Ids of the arrived events: those published over HTTP by their own ids, those of the log by their images. */
function arrivedAt({ requests }: Receiver): Set<string> {
  return new Set(
    requests.map(({ headers, body }) => {
      const { id, data } = JSON.parse(body.toString());
      return headers["x-event-type"] === "order.paid" ? id : data.id;
    }),
  );
}

/** Events that arrived under more than one delivery id. */
function deliveredTwice({ requests }: Receiver): string[] {
  const deliveryIds = Map.groupBy(requests, ({ headers }) => String(headers["webhook-id"]));
  return [...deliveryIds]
    .filter(([, ofEvent]) => new Set(ofEvent.map(({ headers }) => headers["x-delivery-id"])).size > 1)
    .map(([id]) => id);
}
