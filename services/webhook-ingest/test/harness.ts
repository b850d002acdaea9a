import { fileURLToPath } from "node:url";
import { internalTokenHeader } from "@signalbox/auth";
import { type AccountState, draft, type EventName, topics } from "@signalbox/contracts";
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

export const internalToken = "internal-token-of-the-webhook-ingest-tests";
export const sourcesPath = "/api/v1/webhooks/sources";
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

/** The webhook-ingest service on a database and an event log of its own, spoken to over HTTP. */
export interface Harness {
  readonly context: TestContext<typeof properties>;
  readonly url: string;
  /** The service's own database, to look into. */
  readonly pool: Pool;
  send(who: Person | null, method: string, path: string, options?: SendOptions): Promise<Answer>;
  /** Registers a source and shows it. */
  newSource(who: Person, source: object): Promise<{ id: string; ingest_path: string }>;
  /** Posts to the ingest path of a source. */
  post(
    source: { ingest_path: string },
    webhook: { headers: Record<string, string>; body: string | Buffer },
  ): Promise<Answer>;
  graphql(who: Person, query: string, variables?: object): Promise<Answer["body"]>;
  /** The events of an account so far, in the order of the log, once `count` of them are there. */
  eventsOf(accountId: string, count: number, name?: EventName): Promise<ReceivedEvent<EventName>[]>;
  /** Says on the log what the account service says when the state of an account changes. */
  changeState(accountId: string, state: AccountState): Promise<void>;
  /** Says on the log what another service says. */
  publish(...events: Parameters<typeof publishEvents>[1]): Promise<void>;
  close(): Promise<void>;
}

export async function startIngest(overrides: Overrides = {}): Promise<Harness> {
  const [database, events, account] = await Promise.all([testDatabase(), testDatabase(), startAccountStandIn()]);
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
  const log = await openEventLog(context.configuration.get("events.url"), { ...context, clientId: "ingest-tests" });
  await log.ensureTopics(topics);
  const parts = await createService(context);
  const [open, internal] = [await listen(parts.public), await listen(parts.internal)];
  const received = await readEverything(log, context.instance);
  await eventually(async () => (await context.health.report()).startup.status === "up");
  const pool = openPool({ ...context, url: database.url, max: 2, applicationName: "ingest-tests" });
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
    async newSource(who, source) {
      const { status, text, body } = await send(who, "POST", sourcesPath, { body: { name: "Shop", ...source } });
      if (status !== 201) throw new Error(`no source: ${status} ${text}`);
      return body;
    },
    post: ({ ingest_path }, { headers, body }) => send(null, "POST", ingest_path, { headers, body }),
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

/** Creates the topics, as a deployment does before its services start. */
export async function createTopics(url: string): Promise<void> {
  const context = testContext("webhook-ingest", {});
  const log = await openEventLog(url, { ...context, clientId: "topics" });
  await log.ensureTopics(topics);
  await context.close();
}

async function readEverything(log: EventLog, instance: string): Promise<ReceivedEvent<EventName>[]> {
  const received: ReceivedEvent<EventName>[] = [];
  await log.broadcast({
    service: "ingest-tests",
    instance,
    topics: ["signalbox.webhook-source.v1", "signalbox.webhook-received.v1"],
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
