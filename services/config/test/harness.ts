import { fileURLToPath } from "node:url";
import { internalTokenHeader } from "@signalbox/auth";
import { draft, type EventData, topics } from "@signalbox/contracts";
import { type Clock, systemClock } from "@signalbox/core";
import { decodeEvent, eventNameOf, openEventLog, publishEvents, type ReceivedEvent } from "@signalbox/events";
import { encodePrincipal, principalHeader } from "@signalbox/graphql";
import {
  eventually,
  serveListener,
  startAccountStandIn,
  type TestContext,
  type TestPerson,
  testContext,
  testDatabase,
} from "@signalbox/testing";
import { properties } from "../src/properties.ts";
import { createService } from "../src/service.ts";

type Overrides = NonNullable<Parameters<typeof testContext<typeof properties>>[2]>;

export const internalToken = "internal-token-of-the-config-tests-0123";
export const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
export const routes = ["/api/v1/config/", "/api/v2/settings/", "/api/v1/env/", "/api/v1/status/config"] as const;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the members it reads.
  readonly body: any;
}

/** The config service on a database and an event log of its own, spoken to over HTTP. */
export interface Harness {
  readonly context: TestContext<typeof properties>;
  readonly databaseUrl: string;
  readonly eventsUrl: string;
  send(who: TestPerson | null, path: string, options?: { method?: string; headers?: object }): Promise<Answer>;
  /** Sends an operation as the gateway does: with the principal it has verified. */
  graphql(who: TestPerson | null, query: string, variables?: object): Promise<Answer["body"]>;
  /** Says what an instance of some service says of itself. */
  report(report: Partial<EventData<"config.applied">>): Promise<void>;
  /** The `config.changed` of a property so far, in the order of the log, once `count` of them are there. */
  changesOf(property: string, count: number): Promise<ReceivedEvent<"config.changed">[]>;
  /** Another instance on the same database and log, as a second process is. */
  another(): Promise<Harness>;
  close(): Promise<void>;
}

export async function startConfig(overrides: Overrides = {}, clock: Clock = systemClock): Promise<Harness> {
  const [database, events] = await Promise.all([testDatabase(), testDatabase()]);
  const urls = { "database.url": database.url, "events.url": events.url, ...overrides };
  const config = await startInstance(urls, clock);
  return {
    ...config,
    async close() {
      await config.close();
      await Promise.all([database.close(), events.close()]);
    },
  };
}

async function startInstance(overrides: Overrides, clock: Clock): Promise<Harness> {
  const account = await startAccountStandIn();
  const context = testContext(
    "config",
    properties,
    {
      "cache.url": "memory:",
      "internal.token": internalToken,
      "account.internal-url": account.url,
      "http.base-url": "https://signalbox.example",
      "http.strict-responses": true,
      ...overrides,
    },
    { clock },
  );
  const eventsUrl = context.configuration.get("events.url");
  const log = await openEventLog(eventsUrl, { ...context, clientId: "config-tests" });
  await log.ensureTopics(topics);
  const parts = await createService(context);
  const [open, internal] = [await serveListener(parts.public), await serveListener(parts.internal)];
  const changes: ReceivedEvent<"config.changed">[] = [];
  await log.broadcast({
    service: "config-tests",
    instance: context.instance,
    topics: ["signalbox.config.v1"],
    from: "start",
    onRecord: (record) => {
      if (eventNameOf(record.headers) === "config.changed") changes.push(decodeEvent("config.changed", record));
    },
  });
  await eventually(async () => (await context.health.report()).startup.status === "up");

  return {
    context,
    databaseUrl: context.configuration.get("database.url"),
    eventsUrl,
    async send(who, path, { method = "GET", headers = {} } = {}) {
      const response = await fetch(open.url + path, { method, headers: { ...who?.headers, ...headers } });
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.includes("json") && text !== "";
      return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
    },
    async graphql(who, query, variables = {}) {
      const headers = {
        "content-type": "application/json",
        [internalTokenHeader]: internalToken,
        ...(who === null ? {} : { [principalHeader]: encodePrincipal(who.principal) }),
      };
      const body = JSON.stringify({ query, variables });
      return (await fetch(`${internal.url}/graphql`, { method: "POST", headers, body })).json();
    },
    report: (report) => {
      const data = {
        ...{ service: "images", instance: "images-1", revision: 0, published: {}, pending_restart: [], problems: [] },
        ...{ loaded_at: clock.now().toISOString(), ...report },
      };
      const subject = `${data.service}/${data.instance}`;
      return publishEvents({ ...context, eventLog: log }, [
        draft("config.applied", { subject, accountId: null, data }),
      ]);
    },
    changesOf: (property, count) =>
      eventually(() => {
        const own = changes.filter(({ subject }) => subject === property);
        return own.length >= count && own;
      }),
    another: () => startInstance({ ...overrides }, clock),
    async close() {
      await Promise.all([open.close(), internal.close()]);
      await context.close();
      await account.close();
    },
  };
}

export const setProperty = `mutation($input: SetPropertyInput!) {
  setProperty(input: $input) { override { value revision reason } errors { field message } } }`;
export const unsetProperty = `mutation($input: UnsetPropertyInput!) {
  unsetProperty(input: $input) { override { value } errors { field message } } }`;
