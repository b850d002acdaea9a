import type { RequestListener } from "node:http";
import { fileURLToPath } from "node:url";
import { type AccountState, draft } from "@signalbox/contracts";
import { publishEvents } from "@signalbox/events";
import { openPool, type Pool } from "@signalbox/storage";
import {
  createSender,
  createSubgraphClient,
  type EventReader,
  eventLogDatabase,
  internalToken,
  readEvents,
  type Send,
  type SubgraphClient,
  serveService,
  serviceDatabase,
  startAccountStandIn,
  type TestAnswer,
  type TestContext,
  type TestPerson,
  testContext,
  testEventLog,
} from "@signalbox/testing";
import { properties } from "../src/properties.ts";
import { createService } from "../src/service.ts";

type Overrides = NonNullable<Parameters<typeof testContext<typeof properties>>[2]>;

export const sourcesPath = "/api/v1/webhooks/sources";
export const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

/** The webhook-ingest service on its own database and event log, called over HTTP. */
export interface Harness {
  readonly context: TestContext<typeof properties>;
  readonly url: string;
  /** Request listener at `url`, for a server of the test. */
  readonly listener: RequestListener;
  /** Database of the service, for tests that look into it. */
  readonly pool: Pool;
  readonly send: Send;
  /** Registers a source and shows it. */
  newSource(who: TestPerson, source: object): Promise<{ id: string; ingest_path: string }>;
  /** Posts to the ingest path of a source. */
  post(
    source: { ingest_path: string },
    webhook: { headers: Record<string, string>; body: string | Buffer },
  ): Promise<TestAnswer>;
  /** Sends an operation as the gateway does. */
  readonly graphql: SubgraphClient;
  /** The events of an account so far, in the order of the log, once `count` of them are there. */
  readonly eventsOf: EventReader["eventsOf"];
  /** Publishes the event of the account service about a changed account state. */
  changeState(accountId: string, state: AccountState): Promise<void>;
  /** Publishes the event of another service. */
  publish(...events: Parameters<typeof publishEvents>[1]): Promise<void>;
  close(): Promise<void>;
}

export async function startIngest(overrides: Overrides = {}): Promise<Harness> {
  const [database, events, account] = await Promise.all([
    serviceDatabase("webhook-ingest"),
    eventLogDatabase(),
    startAccountStandIn(),
  ]);
  const context = testContext("webhook-ingest", properties, {
    "database.url": database.url,
    "events.url": events.url,
    "cache.url": "memory:",
    "internal.token": internalToken,
    "account.internal-url": account.url,
    "secrets.keys": `test:${Buffer.alloc(32, 7).toString("base64")}`,
    "http.strict-responses": true,
    ...overrides,
  });
  const eventLog = await testEventLog(context.configuration.get("events.url"), context);
  const parts = await createService(context);
  const service = await serveService(context, parts);
  const { eventsOf } = await readEvents(eventLog, context, [
    "signalbox.webhook-source.v1",
    "signalbox.webhook-received.v1",
  ]);
  const pool = openPool({ ...context, url: database.url, max: 2, applicationName: "ingest-tests" });
  const publish: Harness["publish"] = (...drafts) =>
    publishEvents({ ...context, eventLog, service: "account" }, drafts);
  const send = createSender(service.url);
  let epoch = 0;

  return {
    context,
    url: service.url,
    listener: parts.public as RequestListener,
    pool,
    send,
    async newSource(who, source) {
      const { status, text, body } = await send(who, "POST", sourcesPath, { body: { name: "Shop", ...source } });
      if (status !== 201) throw new Error(`no source: ${status} ${text}`);
      return body;
    },
    post: ({ ingest_path }, { headers, body }) => send(null, "POST", ingest_path, { headers, body }),
    graphql: createSubgraphClient(service.internalUrl),
    eventsOf,
    async changeState(accountId, state) {
      const data = {
        kind: "account" as const,
        id: accountId,
        account_id: accountId,
        state,
        epoch: ++epoch,
        changed_at: context.clock.now().toISOString(),
      };
      await publish(draft("access.changed", { subject: `account:${accountId}`, accountId, data }));
    },
    publish,
    async close() {
      await service.close();
      await Promise.all([database.close(), events.close(), account.close()]);
    },
  };
}
