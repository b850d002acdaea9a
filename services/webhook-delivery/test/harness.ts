import { fileURLToPath } from "node:url";
import { internalTokenHeader } from "@signalbox/auth";
import { type AccountState, draft, type EventName, eventOf, topics } from "@signalbox/contracts";
import { randomId } from "@signalbox/core";
import {
  decodeEvent,
  type EventLog,
  eventNameOf,
  openEventLog,
  publishEvents,
  type ReceivedEvent,
} from "@signalbox/events";
import { encodePrincipal, principalHeader } from "@signalbox/graphql";
import { openPool, type Pool } from "@signalbox/storage";
import { eventually, type TestContext, testContext, testDatabase } from "@signalbox/testing";
import { properties } from "../src/properties.ts";
import { createService } from "../src/service.ts";
import { listen, type Person, startAccountStandIn } from "./account-stand-in.ts";

type Overrides = NonNullable<Parameters<typeof testContext<typeof properties>>[2]>;

export const internalToken = "internal-token-of-the-webhook-delivery-tests";
export const endpointsPath = "/api/v1/webhooks/endpoints";
export const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

interface SendOptions {
  readonly headers?: Record<string, string>;
  /** Text and bytes go as they are; anything else as JSON. */
  readonly body?: unknown;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the members it reads.
  readonly body: any;
}

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
  readonly started_at: string;
}

/** The webhook-delivery service on a database and an event log of its own, spoken to over HTTP. */
export interface Harness {
  readonly context: TestContext<typeof properties>;
  readonly url: string;
  /** The service's own database, to look into. */
  readonly pool: Pool;
  send(who: Person | null, method: string, path: string, options?: SendOptions): Promise<Answer>;
  /** Registers an endpoint and shows it with its secret. */
  newEndpoint(who: Person, endpoint: object): Promise<NewEndpoint>;
  deliveriesOf(who: Person, query?: string): Promise<DeliveryView[]>;
  attemptsOf(who: Person, deliveryId: string): Promise<AttemptView[]>;
  /** Says that an image of the account was created; answers its id. */
  createImage(accountId: string): Promise<string>;
  graphql(who: Person, query: string, variables?: object): Promise<Answer["body"]>;
  /** The events of an account so far, in the order of the log, once `count` of them are there. */
  eventsOf(accountId: string, count: number, name?: EventName): Promise<ReceivedEvent<EventName>[]>;
  /** Says on the log what the account service says when the state of an account changes. */
  changeState(accountId: string, state: AccountState): Promise<void>;
  /** Says on the log what another service says. */
  publish(...events: Parameters<typeof publishEvents>[1]): Promise<void>;
  close(): Promise<void>;
}

export async function startDelivery(overrides: Overrides = {}): Promise<Harness> {
  const [database, events, account] = await Promise.all([testDatabase(), testDatabase(), startAccountStandIn()]);
  const context = testContext("webhook-delivery", properties, {
    "database.url": database.url,
    "events.url": events.url,
    "cache.url": "memory:",
    "internal.token": internalToken,
    "account.internal-url": account.url,
    "secrets.keys": `test:${Buffer.alloc(32, 7).toString("base64")}`,
    "http.strict-responses": true,
    "webhook-delivery.outbound.allow": "127.0.0.1:*",
    ...overrides,
  });
  const log = await openEventLog(context.configuration.get("events.url"), { ...context, clientId: "delivery-tests" });
  await log.ensureTopics(topics);
  const parts = await createService(context);
  const [open, internal] = [await listen(parts.public), await listen(parts.internal)];
  const received = await readEverything(log, context.instance);
  await eventually(async () => (await context.health.report()).startup.status === "up");
  const pool = openPool({
    ...context,
    url: context.configuration.get("database.url"),
    max: 2,
    applicationName: "delivery-tests",
  });
  const publish: Harness["publish"] = (...drafts) =>
    publishEvents({ ...context, eventLog: log, service: "account" }, drafts);
  let epoch = 0;

  const send: Harness["send"] = async (who, method, path, { headers = {}, body } = {}) => {
    const isRaw = body === undefined || typeof body === "string" || body instanceof Uint8Array;
    const response = await fetch(open.url + path, {
      method,
      headers: { ...who?.headers, ...(isRaw ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: (isRaw ? body : JSON.stringify(body)) as string }),
    });
    return answerOf(response);
  };

  return {
    context,
    url: open.url,
    pool,
    send,
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
    async graphql({ principal }, query, variables = {}) {
      const headers = {
        "content-type": "application/json",
        [internalTokenHeader]: internalToken,
        [principalHeader]: encodePrincipal(principal),
      };
      const body = JSON.stringify({ query, variables });
      return (await fetch(`${internal.url}/graphql`, { method: "POST", headers, body })).json();
    },
    eventsOf: (accountId, count, name) =>
      eventually(() => {
        const own = received.filter((event) => event.accountId === accountId && (!name || event.name === name));
        return own.length >= count && own;
      }),
    async changeState(accountId, state) {
      const data = {
        ...{ kind: "account" as const, id: accountId, account_id: accountId },
        ...{ state, epoch: ++epoch, changed_at: context.clock.now().toISOString() },
      };
      await publish(draft("access.changed", { subject: `account:${accountId}`, accountId, data }));
    },
    publish,
    async close() {
      await Promise.all([open.close(), internal.close()]);
      await context.close();
      await Promise.all([database.close(), events.close(), account.close()]);
    },
  };
}

/** Says on the log that an image of the account was created, while no service runs. */
export async function sayImageCreated(eventsUrl: string, accountId: string): Promise<void> {
  const context = testContext("images", {});
  const eventLog = await openEventLog(eventsUrl, { ...context, clientId: "delivery-tests" });
  await publishEvents({ ...context, eventLog, service: "images" }, [imageCreated(accountId)]);
  await context.close();
}

function imageCreated(accountId: string) {
  const id = randomId("img");
  return draft("image.created", { subject: id, accountId, data: { ...eventOf("image.created").example, id } });
}

async function readEverything(log: EventLog, instance: string): Promise<ReceivedEvent<EventName>[]> {
  const received: ReceivedEvent<EventName>[] = [];
  await log.broadcast({
    service: "delivery-tests",
    instance,
    topics: ["signalbox.webhook-delivery.v1"],
    from: "start",
    onRecord: (record) => {
      const name = eventNameOf(record.headers);
      if (name) received.push(decodeEvent(name, record));
    },
  });
  return received;
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") && text !== "";
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
}
