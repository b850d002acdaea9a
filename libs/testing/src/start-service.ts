import type { RequestListener } from "node:http";
import { type AccountState, draft } from "@signalbox/contracts";
import { type Clock, type ServiceName, systemClock } from "@signalbox/core";
import { publishEvents } from "@signalbox/events";
import type { PropertyDeclarations, ServiceContext, ServiceParts } from "@signalbox/runtime";
import { openPool, type Pool } from "@signalbox/storage";
import { type AccountStandIn, startAccountStandIn } from "./account-stand-in.ts";
import { type EventReader, readEvents } from "./read-events.ts";
import { createSender, type Send } from "./sender.ts";
import { serveService } from "./serve-listener.ts";
import { eventLogDatabase, serviceDatabase, testEventLog } from "./service-database.ts";
import { createSubgraphClient, internalToken, type SubgraphClient } from "./subgraph-client.ts";
import { type Overrides, type TestContext, testContext } from "./test-context.ts";

type Drafts = Parameters<typeof publishEvents>[1];

/** A service on a database and an event log of its own, called over HTTP, beside a stand-in of the account service. */
export interface StartedService<P extends PropertyDeclarations> {
  readonly context: TestContext<P>;
  readonly url: string;
  /** Address of the internal listener. */
  readonly internalUrl: string;
  /** Request listener at `url`, for a server of the test. */
  readonly listener: RequestListener;
  /** Decides about a reader of the management `env`. */
  readonly authorizeManagement: NonNullable<ServiceParts["authorizeManagement"]>;
  readonly account: AccountStandIn;
  /** Database of the service, for tests that look into it. */
  readonly pool: Pool;
  readonly send: Send;
  /** Sends an operation as the gateway does. */
  readonly graphql: SubgraphClient;
  /** The events of an account so far, in the order of the log, once `count` of them are there. */
  readonly eventsOf: EventReader["eventsOf"];
  /** The same for audit events. */
  readonly auditOf: EventReader["eventsOf"];
  /** Publishes events of another service. */
  publish(...events: Drafts): Promise<void>;
  /** Publishes events of another service with a time of their own. */
  publishAt(time: Date, ...events: Drafts): Promise<void>;
  /** Publishes the event of the account service about a changed account state. */
  changeState(accountId: string, state: AccountState): Promise<void>;
  close(): Promise<void>;
}

interface ServiceStart<P extends PropertyDeclarations> {
  readonly name: ServiceName;
  readonly properties: P;
  readonly createService: (context: ServiceContext<P>) => Promise<ServiceParts>;
  /** Topics that `eventsOf` reads. */
  readonly topics: readonly string[];
  /** Values that replace those of a test. */
  readonly overrides: Overrides<P>;
  readonly clock?: Clock;
}

/** Starts a service in this process. When it does not start, nothing stays open. */
export async function startService<const P extends PropertyDeclarations>(
  start: ServiceStart<P>,
): Promise<StartedService<P>> {
  const { name, properties, createService, overrides, clock = systemClock } = start;
  const stores = await Promise.all([serviceDatabase(name), eventLogDatabase(), startAccountStandIn()]);
  const [database, events, account] = stores;
  const closeStores = () => Promise.all(stores.map((store) => store.close()));
  const values = {
    "database.url": database.url,
    "events.url": events.url,
    "cache.url": "memory:",
    "internal.token": internalToken,
    "account.internal-url": account.url,
    "secrets.keys": `test:${Buffer.alloc(32, 7).toString("base64")}`,
    "http.strict-responses": true,
  };
  const all: Overrides<P> = Object.assign(values, overrides);
  const context = testContext(name, properties, all, { clock });
  const eventLog = await testEventLog(values["events.url"], context);
  const parts = await createService(context).catch(async (error: unknown) => {
    await context.close();
    await closeStores();
    throw error;
  });
  const service = await serveService(context, parts);
  const { eventsOf } = await readEvents(eventLog, context, start.topics);
  const audit = await readEvents(eventLog, { service: name, instance: `${context.instance}-audit` }, [
    "signalbox.audit.v1",
  ]);
  const publishAs = (drafts: Drafts, as: Clock) =>
    publishEvents({ ...context, eventLog, service: "account", clock: as }, drafts);
  let epoch = 0;

  return {
    context,
    url: service.url,
    listener: parts.public as RequestListener,
    authorizeManagement: parts.authorizeManagement as NonNullable<ServiceParts["authorizeManagement"]>,
    account,
    pool: openPool({ ...context, url: values["database.url"], max: 2, applicationName: `${name}-tests` }),
    send: createSender(service.url),
    internalUrl: service.internalUrl,
    graphql: createSubgraphClient(service.internalUrl),
    eventsOf,
    auditOf: audit.eventsOf,
    publish: (...drafts) => publishAs(drafts, clock),
    publishAt: (time, ...drafts) => publishAs(drafts, { ...clock, now: () => time }),
    async changeState(id, state) {
      const changed_at = clock.now().toISOString();
      const data = { kind: "account" as const, id, account_id: id, state, epoch: ++epoch, changed_at };
      await publishAs([draft("access.changed", { subject: `account:${id}`, accountId: id, data })], clock);
    },
    async close() {
      await service.close();
      await closeStores();
    },
  };
}
