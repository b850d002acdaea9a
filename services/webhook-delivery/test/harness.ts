import { fileURLToPath } from "node:url";
import { type AccountState, draft, eventOf } from "@signalbox/contracts";
import { randomId } from "@signalbox/core";
import { publishEvents } from "@signalbox/events";
import type { ServiceParts } from "@signalbox/runtime";
import { openPool, type Pool } from "@signalbox/storage";
import {
  type AccountStandIn,
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
  type TestContext,
  type TestPerson,
  testContext,
  testEventLog,
} from "@signalbox/testing";
import { properties } from "../src/properties.ts";
import { createService } from "../src/service.ts";

type Overrides = NonNullable<Parameters<typeof testContext<typeof properties>>[2]>;

export const endpointsPath = "/api/v1/webhooks/endpoints";
export const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

interface NewEndpoint {
  readonly id: string;
  readonly secret: string;
}

export interface DeliveryView {
  readonly id: string;
  readonly endpoint_id: string;
  readonly event_type: string;
  readonly status: string;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly next_attempt_at: string | null;
}

interface AttemptView {
  readonly number: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly response: string | null;
  readonly counted: boolean;
  readonly started_at: string;
}

/** The webhook-delivery service on its own database and event log, called over HTTP. */
export interface Harness {
  readonly context: TestContext<typeof properties>;
  readonly url: string;
  /** Database of the service, for tests that look into it. */
  readonly pool: Pool;
  readonly send: Send;
  /** Stand-in for the account service. */
  readonly account: AccountStandIn;
  /** Registers an endpoint and shows it with its secret. */
  newEndpoint(who: TestPerson, endpoint: object): Promise<NewEndpoint>;
  deliveriesOf(who: TestPerson, query?: string): Promise<DeliveryView[]>;
  attemptsOf(who: TestPerson, deliveryId: string): Promise<AttemptView[]>;
  /** Publishes that an image of the account was created; returns its id. */
  createImage(accountId: string): Promise<string>;
  /** Sends an operation as the gateway does. */
  readonly graphql: SubgraphClient;
  /** The events of an account so far, in the order of the log, once `count` of them are there. */
  readonly eventsOf: EventReader["eventsOf"];
  /** Decides about a reader of the management `env`. */
  readonly authorizeManagement: NonNullable<ServiceParts["authorizeManagement"]>;
  /** The audit entries of an account so far, once `count` of them are there. */
  readonly auditOf: EventReader["eventsOf"];
  /** Publishes the event of the account service about a changed account state. */
  changeState(accountId: string, state: AccountState): Promise<void>;
  /** Publishes the event of another service. */
  publish(...events: Parameters<typeof publishEvents>[1]): Promise<void>;
  /** Publishes the event of another service with a time of its own. */
  publishAt(time: Date, ...events: Parameters<typeof publishEvents>[1]): Promise<void>;
  close(): Promise<void>;
}

export async function startDelivery(overrides: Overrides = {}): Promise<Harness> {
  const [database, events, account] = await Promise.all([
    serviceDatabase("webhook-delivery"),
    eventLogDatabase(),
    startAccountStandIn(),
  ]);
  const context = testContext("webhook-delivery", properties, {
    "database.url": database.url,
    "events.url": events.url,
    "cache.url": "memory:",
    "internal.token": internalToken,
    "account.internal-url": account.url,
    "secrets.keys": `test:${Buffer.alloc(32, 7).toString("base64")}`,
    "http.strict-responses": true,
    "webhook-delivery.outbound.allow": "127.0.0.1:*",
    "webhook-delivery.attempts.delay-min": "0",
    ...overrides,
  });
  const eventLog = await testEventLog(context.configuration.get("events.url"), context);
  const closeStores = () => Promise.all([database.close(), events.close(), account.close()]);
  const parts = await createService(context).catch(async (error: unknown) => {
    await context.close();
    await closeStores();
    throw error;
  });
  const service = await serveService(context, parts);
  const audit = await readEvents(eventLog, { ...context, instance: `${context.instance}-audit` }, [
    "signalbox.audit.v1",
  ]);
  const { eventsOf } = await readEvents(eventLog, context, ["signalbox.webhook-delivery.v1"]);
  const pool = openPool({
    ...context,
    url: context.configuration.get("database.url"),
    max: 2,
    applicationName: "delivery-tests",
  });
  const publish: Harness["publish"] = (...drafts) =>
    publishEvents({ ...context, eventLog, service: "account" }, drafts);
  const publishAt: Harness["publishAt"] = (time, ...drafts) =>
    publishEvents({ ...context, eventLog, service: "account", clock: { ...context.clock, now: () => time } }, drafts);
  const send = createSender(service.url);
  let epoch = 0;

  return {
    context,
    url: service.url,
    pool,
    send,
    account,
    async newEndpoint(who, endpoint) {
      const given = { event_types: ["image.created"], ...endpoint };
      const { status, text, body } = await send(who, "POST", endpointsPath, { body: given });
      if (status !== 201) throw new Error(`no endpoint: ${status} ${text}`);
      return body;
    },
    deliveriesOf: async (who, query = "") =>
      (await send(who, "GET", `/api/v1/webhooks/deliveries?limit=100${query}`)).body.items,
    attemptsOf: async (who, deliveryId) =>
      (await send(who, "GET", `/api/v1/webhooks/attempts?limit=100&delivery_id=${deliveryId}`)).body.items,
    async createImage(accountId) {
      const event = imageCreated(accountId);
      await publish(event);
      return event.subject;
    },
    graphql: createSubgraphClient(service.internalUrl),
    eventsOf,
    authorizeManagement: parts.authorizeManagement as Harness["authorizeManagement"],
    auditOf: audit.eventsOf,
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
    publishAt,
    async close() {
      await service.close();
      await closeStores();
    },
  };
}

/** Publishes that an image of the account was created, while no service runs. */
export async function sayImageCreated(eventsUrl: string, accountId: string): Promise<void> {
  const context = testContext("images", {});
  const eventLog = await testEventLog(eventsUrl, context);
  await publishEvents({ ...context, eventLog, service: "images" }, [imageCreated(accountId)]);
  await context.close();
}

function imageCreated(accountId: string) {
  const id = randomId("img");
  return draft("image.created", { subject: id, accountId, data: { ...eventOf("image.created").example, id } });
}
