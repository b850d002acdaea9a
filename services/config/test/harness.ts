import { fileURLToPath } from "node:url";
import { draft, type EventData, eventOf } from "@signalbox/contracts";
import { type Clock, systemClock } from "@signalbox/core";
import { publishEvents, type ReceivedEvent } from "@signalbox/events";
import {
  type AccountStandIn,
  createSender,
  createSubgraphClient,
  eventLogDatabase,
  internalToken,
  readEvents,
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

export const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
export const routes = ["/api/v1/config/", "/api/v2/settings/", "/api/v1/env/", "/api/v1/status/config"] as const;

interface SendOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

/** The config service on a database and an event log of its own, called over HTTP. */
export interface Harness {
  readonly context: TestContext<typeof properties>;
  readonly databaseUrl: string;
  readonly eventsUrl: string;
  send(who: TestPerson | null, path: string, options?: SendOptions): Promise<TestAnswer>;
  readonly url: string;
  /** Stands in for account, which resolves credentials. */
  readonly account: AccountStandIn;
  post(who: TestPerson | null, path: string, body: string, headers: Record<string, string>): Promise<TestAnswer>;
  /** Sends an operation like the gateway: with a verified principal. */
  readonly graphql: SubgraphClient;
  /** Publishes the report of an instance of a service. */
  report(report: Partial<EventData<"config.applied">>): Promise<void>;
  /** Publishes the purge of an account. */
  purge(accountId: string): Promise<void>;
  /** Waits for `count` `config.changed` events of a property and returns all so far, in the order of the log. */
  changesOf(property: string, count: number): Promise<ReceivedEvent<"config.changed">[]>;
  /** Starts another instance on the same database and log, like a second process. */
  another(): Promise<Harness>;
  close(): Promise<void>;
}

export async function startConfig(overrides: Overrides = {}, clock: Clock = systemClock): Promise<Harness> {
  const [database, events] = await Promise.all([serviceDatabase("config"), eventLogDatabase()]);
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
  const eventLog = await testEventLog(eventsUrl, context);
  const service = await serveService(context, await createService(context));
  const { eventsAbout } = await readEvents(eventLog, context, ["signalbox.config.v1"]);
  const send = createSender(service.url);

  return {
    context,
    databaseUrl: context.configuration.get("database.url"),
    eventsUrl,
    send: (who, path, { method = "GET", headers = {} } = {}) => send(who, method, path, { headers }),
    url: service.url,
    account,
    post: (who, path, body, headers) => send(who, "POST", path, { body, headers }),
    graphql: createSubgraphClient(service.internalUrl),
    report: (report) => {
      const data = {
        service: "images",
        instance: "images-1",
        revision: 0,
        published: {},
        pending_restart: [],
        problems: [],
        loaded_at: clock.now().toISOString(),
        ...report,
      };
      const subject = `${data.service}/${data.instance}`;
      return publishEvents({ ...context, eventLog }, [draft("config.applied", { subject, accountId: null, data })]);
    },
    purge: (subject) => {
      const data = { ...eventOf("account.deleted").example, id: subject };
      return publishEvents({ ...context, eventLog }, [draft("account.deleted", { subject, accountId: subject, data })]);
    },
    changesOf: (property, count) => eventsAbout(property, count, "config.changed"),
    another: () => startInstance({ ...overrides }, clock),
    async close() {
      await service.close();
      await account.close();
    },
  };
}

export const setProperty = `mutation($input: SetPropertyInput!) {
  setProperty(input: $input) { override { value revision reason } errors { field message } } }`;
export const unsetProperty = `mutation($input: UnsetPropertyInput!) {
  unsetProperty(input: $input) { override { value } errors { field message } } }`;
