import type { RequestListener } from "node:http";
import type { AccessStates, PrincipalSource } from "@signalbox/auth";
import {
  type BatchHandler,
  type ConsumerTable,
  createConsumer,
  type DeadLetters,
  type EventLog,
  type Outbox,
} from "@signalbox/events";
import {
  createHttpApp,
  createIdempotencyStore,
  createInternalApp,
  createRoutes,
  createSubgraph,
  type HttpAppOptions,
  type Mounts,
  type PageLimits,
  type Routes,
} from "@signalbox/http";
import type { Configuration, ServiceContext, ServiceParts } from "@signalbox/runtime";
import type { Cache, RateLimitPolicy } from "@signalbox/storage";
import {
  type Pool,
  type Presence,
  type SealedColumn,
  type Sealer,
  startPresence,
  startResealing,
  startRetention,
} from "@signalbox/storage";
import { sendingThrough } from "./audit/audit-entry.ts";
import { createManagementReads } from "./audit/audit-reads.ts";
import { createRefusalRecorder } from "./audit/audit-refusals.ts";
import { startByDatabaseClock } from "./clock/clock-sync.ts";
import type { commonProperties, pageProperties } from "./common-properties.ts";
import { type Flags, openFlags } from "./feature-flags.ts";
import { followConfiguration } from "./follow-configuration.ts";
import { observeSubgraph } from "./observe-subgraph.ts";
import { accessOf, openStates } from "./open-access.ts";
import { openDatabase } from "./open-database.ts";
import { type EdgeLimits, openEdgeLimits } from "./open-edge-limits.ts";
import { openOutbox } from "./open-outbox.ts";
import { openServiceLog } from "./open-service-log.ts";
import type { AnsweredGroup } from "./operating/operating.ts";
import { operatingRoutes } from "./operating/operating-routes.ts";
import type { Edges } from "./operations/edges.ts";
import type { SharedParts } from "./shared-parts.ts";
import { whyParked } from "./why/parked-events.ts";
import { createRefusedRequests, refusedRetention } from "./why/refused-requests.ts";
import { type WhyFinder, whyRoutes } from "./why/why-routes.ts";

type Context = Omit<ServiceContext<unknown>, "configuration"> & {
  // biome-ignore lint/suspicious/noExplicitAny: overrides may name any property, checked with `knows`.
  readonly configuration: Configuration<typeof commonProperties> & Configuration<any>;
} & SharedParts;

export interface OpenServiceOptions {
  /** The folder of the service's schema and migrations. */
  readonly prismaDirectory: string;
  /** Seals the stored answers of routes that show secrets; a service without such routes needs none. */
  readonly sealer?: Sealer;
  /** The service's own sealed columns. */
  readonly sealedColumns?: readonly SealedColumn[];
  /** Groups of a service without a listener, for which this one answers operators. */
  readonly answersFor?: readonly AnsweredGroup[];
  /** Returns the service's own policies that routes name, called when the overrides are known. */
  readonly rateLimits?: () => readonly RateLimitPolicy[];
}

/** The interfaces that a service offers to others. */
interface ServiceInterfaces {
  /** The title of its OpenAPI document. */
  readonly title: string;
  /** True for the service that sends webhooks: its document describes them. */
  readonly sendsWebhooks?: true;
  /** Resolves credentials: account's own source, or `openPrincipals` everywhere else. */
  readonly principals: PrincipalSource;
  /** The public routes, and the fields of the graph. */
  readonly edges: Edges;
  /** Routes for other services, behind the internal token. */
  readonly internalRoutes?: readonly Routes[];
  /** The things that a chain behind an id can lead to. */
  readonly whyFinders?: readonly WhyFinder[];
  /** The SDL of its part of the graph. */
  readonly typeDefs: string;
  /** Other public listeners by path prefix, such as an OpenID provider. */
  readonly mounts?: Mounts;
  /** Origins besides those of `http.cors.origins` whose pages may call it. */
  readonly corsOrigins?: readonly string[];
  /**
   * Called for every refusal of a known caller, at both edges; by default it is recorded in the audit through the
   * outbox.
   */
  readonly onForbidden?: NonNullable<HttpAppOptions["onForbidden"]>;
}

/** The parts of every service with a database, wired. */
export interface OpenedService {
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly outbox: Outbox;
  readonly deadLetters: DeadLetters;
  readonly accessStates: AccessStates;
  readonly cache: Cache;
  readonly limiterOf: EdgeLimits["limiterOf"];
  /** Evaluates flags for the account of a principal, in process; never throws. */
  readonly flags: Flags;
  /** Returns the milliseconds since the active overrides were last known to be the newest. */
  readonly configurationAgeMs: () => number;
  /** Largest and default length of a page of any list. */
  readonly pageLimits: PageLimits;
  /** Shows other instances that this one is alive. */
  readonly presence: Presence;
  /** Starts a consumer group of this service's database; with a batch handler, for many events at a time. */
  consume(name: string, table: ConsumerTable, batchHandler?: BatchHandler): void;
  /** Builds the two listeners and the access check of the management server. */
  serve(interfaces: ServiceInterfaces): ServiceParts;
}

/**
 * Opens the parts of every service with a database, in this order: time, event log, configuration, database, outbox,
 * access states, cache and limits. Each part hands its close to the runner and reports its start to the health.
 */
export async function openService(
  context: Context,
  { prismaDirectory, sealer, sealedColumns = [], answersFor = [], rateLimits: policies = () => [] }: OpenServiceOptions,
): Promise<OpenedService> {
  const { service, configuration, runner, log, metrics, clock } = context;
  await startByDatabaseClock(context);
  const eventLog = await openServiceLog(context);
  const overrides = await followConfiguration(context, eventLog);
  const pool = await openDatabase(context, prismaDirectory);
  const { outbox, deadLetters } = openOutbox(context, pool, eventLog);
  const topicStates = await openStates(context, eventLog);
  const { accessStates, follow } = followedStates(topicStates);
  const { rateLimits, cache, limiterOf } = await openEdgeLimits(context, policies());
  const presence = startPresence({ pool, runner });
  const idempotency = createIdempotencyStore({ service, pool, clock, presence, sealer });
  startRetention({ runner, pool, clock }, [idempotency.retention, refusedRetention]);
  const refusedRequests = createRefusedRequests({ service, pool, runner });
  const operating = { service, clock, pool, eventLog, outbox, groups: [...answersFor] };
  if (sealer) startResealing({ runner, pool, sealer, log, metrics }, [idempotency.sealedColumn, ...sealedColumns]);

  return {
    pool,
    eventLog,
    outbox,
    deadLetters,
    accessStates,
    cache,
    limiterOf,
    presence,
    flags: openFlags(overrides, clock),
    configurationAgeMs: () => overrides.ageMs(),
    pageLimits: pageLimitsOf(configuration),
    consume: consumerStarter(context, { eventLog, pool, deadLetters, groups: operating.groups }),
    serve({ title, principals, edges, internalRoutes = [], whyFinders = [], typeDefs, mounts, corsOrigins, ...rest }) {
      const { routes, resolvers } = edges;
      const finders = [...whyFinders, whyParked(service, pool), refusedRequests.finder];
      const send = sendingThrough({ pool, outbox });
      const { onForbidden = createRefusalRecorder(context, send), sendsWebhooks } = rest;
      const recordRead = createManagementReads(context, send);
      const access = accessOf(context, { states: topicStates, principals, rateLimits, recordRead });
      const { authenticator, authorizeManagement } = access;
      follow(access.accessStates);
      const openapi = { title, version: "1", sendsWebhooks };
      const edge = { context, pool, authenticator, rateLimits, idempotency, onForbidden };
      const parts = { log, clock, pool, accessStates, idempotency, onForbidden, observe: observeSubgraph(context) };
      const subgraph: RequestListener = createSubgraph({ typeDefs, resolvers, ...parts });
      return {
        public: createHttpApp({
          ...edge,
          onRefused: refusedRequests.note,
          routes,
          openapi,
          mounts,
          corsOrigins,
        }),
        internal: createInternalApp({
          context,
          pool,
          tokens: () => configuration.get("internal.token"),
          callers: () => configuration.get("internal.callers"),
          routes: joinRoutes([...internalRoutes, operatingRoutes(operating), whyRoutes(context.service, finders)]),
          mounts: { "/graphql": subgraph },
          published: { routes, openapi },
        }),
        authorizeManagement,
      };
    },
  };
}

/** Follows the topic alone until the service serves: the source for changes that the topic lacks is known then. */
function followedStates(topicStates: AccessStates) {
  let followed = topicStates;
  const accessStates: AccessStates = { ...topicStates, isBehind: (forMs) => followed.isBehind(forMs) };
  const follow = (states: AccessStates) => {
    followed = states;
  };
  return { accessStates, follow };
}

interface ConsumerParts extends Pick<OpenedService, "eventLog" | "pool" | "deadLetters"> {
  /** Gains each group that starts. */
  readonly groups: AnsweredGroup[];
}

/** Creates the function that starts the consumer groups of the service. */
function consumerStarter(context: Context, { groups, ...parts }: ConsumerParts): OpenedService["consume"] {
  const { service, configuration, log, tracer, metrics, clock } = context;
  const common = { service, log, tracer, metrics, clock, ...parts };
  return (name, table, batchHandler) => {
    const inboxRetentionMs = configuration.get("events.inbox.retention");
    const options = { ...common, name, table, inboxRetentionMs, batchHandler };
    const { group, topics, start } = createConsumer(options);
    groups.push({ service, group, topics, parks: true });
    start(context);
  };
}

function joinRoutes(tables: readonly Routes[]): Routes {
  const joined = createRoutes();
  for (const table of tables) joined.include(table);
  return joined;
}

/** Returns the sizes of pages, which are live properties. */
export const pageLimitsOf = (configuration: Configuration<typeof pageProperties>): PageLimits => ({
  maxPageSize: () => configuration.get("limits.maxPageSize"),
  pageSize: () => configuration.get("defaults.pageSize"),
});
