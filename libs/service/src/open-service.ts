import type { RequestListener } from "node:http";
import type { AccessStates, PrincipalSource } from "@signalbox/auth";
import type { Cache, RateLimitPolicy } from "@signalbox/cache";
import type { Configuration } from "@signalbox/config";
import {
  type BatchHandler,
  type ConsumerTable,
  createConsumer,
  type DeadLetters,
  type EventLog,
  type Outbox,
} from "@signalbox/events";
import { createSubgraph, type PageLimits, type SubgraphOptions } from "@signalbox/graphql";
import {
  createHttpApp,
  createIdempotencyStore,
  createInternalApp,
  createRoutes,
  type HttpAppOptions,
  idempotencyRetention,
  type Mounts,
  type Routes,
  sealedAnswers,
} from "@signalbox/http";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import {
  type Pool,
  type Presence,
  type SealedColumn,
  type Sealer,
  startPresence,
  startResealing,
  startRetention,
} from "@signalbox/storage";
import { createRefusalTeller } from "./audit/audit-refusals.ts";
import type { commonProperties } from "./common-properties.ts";
import { type Flags, openFlags } from "./flags.ts";
import { followConfiguration } from "./follow-configuration.ts";
import { observeSubgraph } from "./observe-subgraph.ts";
import { accessOf, openStates } from "./open-access.ts";
import { openDatabase } from "./open-database.ts";
import { type EdgeLimits, openEdgeLimits } from "./open-edge-limits.ts";
import { openOutbox } from "./open-outbox.ts";
import { openServiceLog } from "./open-service-log.ts";
import type { SharedParts } from "./shared-parts.ts";

type Context = Omit<ServiceContext<unknown>, "configuration"> & {
  // biome-ignore lint/suspicious/noExplicitAny: overrides may name any property, checked with `knows`.
  readonly configuration: Pick<Configuration<typeof commonProperties>, "get" | "onChange"> & Configuration<any>;
} & SharedParts;

export interface OpenServiceOptions {
  /** Where the service's schema and migrations are. */
  readonly prismaDirectory: string;
  /** Seals the stored answers of routes that show secrets; a service without such routes needs none. */
  readonly sealer?: Sealer;
  /** The service's own columns that it seals. */
  readonly sealedColumns?: readonly SealedColumn[];
  /** Policies of its own that routes name, asked for when the overrides are known. */
  readonly rateLimits?: () => readonly RateLimitPolicy[];
}

/** The sides that a service shows to others. */
interface Doors<Loaders> {
  /** The title of its OpenAPI document. */
  readonly title: string;
  /** Finds who stands behind a credential: account's own answer, or `openPrincipals` everywhere else. */
  readonly principals: PrincipalSource;
  readonly routes: Routes;
  /** Routes for other services; they have shown the internal token. */
  readonly internalRoutes?: Routes;
  /** Its part of the graph. */
  readonly graph: Pick<SubgraphOptions<Loaders>, "typeDefs" | "resolvers" | "createLoaders">;
  /** Other public listeners by path prefix, such as an OpenID provider. */
  readonly mounts?: Mounts;
  /** Origins besides those of `http.cors.origins` whose pages may call it. */
  readonly corsOrigins?: readonly string[];
  /** Told of every refusal of a known caller, at both edges; left out, it goes to the audit through the outbox. */
  readonly onForbidden?: NonNullable<HttpAppOptions["onForbidden"]>;
}

/** The parts that every service with a database has, wired. */
export interface OpenedService {
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly outbox: Outbox;
  readonly deadLetters: DeadLetters;
  readonly accessStates: AccessStates;
  readonly cache: Cache;
  readonly limiterOf: EdgeLimits["limiterOf"];
  /** What every flag gives the account of a principal, evaluated in process; never throws. */
  readonly flags: Flags;
  /** Milliseconds since the overrides in force were last known to be the newest. */
  readonly configurationAgeMs: () => number;
  /** How many rows a page of any list has, at most and when nobody says. */
  readonly pageLimits: PageLimits;
  /** Shows the other instances that this one lives. */
  readonly presence: Presence;
  /** Starts a consumer group of this service's database; with a batch handler, many events at a time. */
  consume(name: string, table: ConsumerTable, batchHandler?: BatchHandler): void;
  /** Builds the two listeners and the decision about the management server. */
  serve<Loaders>(doors: Doors<Loaders>): ServiceParts;
}

/**
 * Opens what every service with a database needs, in this order: event log, configuration, database, outbox, access states,
 * cache and limits. Each part hands its close to the runner and says on the health report when it is there.
 */
export async function openService(
  context: Context,
  { prismaDirectory, sealer, sealedColumns = [], rateLimits: policies = () => [] }: OpenServiceOptions,
): Promise<OpenedService> {
  const { service, configuration, runner, log, tracer, metrics, clock } = context;
  const eventLog = await openServiceLog(context);
  const overrides = await followConfiguration(context, eventLog);
  const pool = await openDatabase(context, prismaDirectory);
  const { outbox, deadLetters } = openOutbox(context, pool, eventLog);
  const heard = await openStates(context, eventLog);
  let followed = heard;
  // Whom to ask for what the topic lacks is known once the service serves.
  const accessStates: AccessStates = { ...heard, isBehind: (forMs) => followed.isBehind(forMs) };
  const { rateLimits, cache, limiterOf } = await openEdgeLimits(context, policies());
  const presence = startPresence({ pool, runner });
  const idempotency = createIdempotencyStore({ service, pool, clock, presence, ...(sealer && { sealer }) });
  startRetention({ runner, pool, clock }, [idempotencyRetention]);
  if (sealer) startResealing({ runner, pool, sealer, log, metrics }, [sealedAnswers(service), ...sealedColumns]);

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
    consume(name, table, batchHandler) {
      const parts = { service, eventLog, pool, deadLetters, log, tracer, metrics, clock };
      const inboxRetentionMs = configuration.get("events.inbox.retention");
      const consumer = { ...parts, name, table, inboxRetentionMs, ...(batchHandler && { batchHandler }) };
      createConsumer(consumer).start(context);
    },
    serve({ title, principals, routes, internalRoutes = createRoutes(), graph, mounts, corsOrigins, ...rest }) {
      const { onForbidden = createRefusalTeller(context, { pool, outbox }) } = rest;
      const access = accessOf(context, { states: heard, principals, rateLimits });
      const { authenticator, authorizeManagement } = access;
      followed = access.accessStates;
      const openapi = { title, version: "1" };
      const edge = { context, pool, authenticator, rateLimits, idempotency, onForbidden };
      const observe = observeSubgraph(context);
      const subgraph: RequestListener = createSubgraph({
        ...{ ...graph, log, clock, pool, accessStates, idempotency, onForbidden, observe },
      });
      return {
        public: createHttpApp({
          ...edge,
          routes,
          openapi,
          ...(mounts && { mounts }),
          ...(corsOrigins && { corsOrigins }),
        }),
        internal: createInternalApp({
          context,
          pool,
          tokens: () => configuration.get("internal.token"),
          callers: () => configuration.get("internal.callers"),
          routes: internalRoutes,
          mounts: { "/graphql": subgraph },
          published: { routes, openapi },
        }),
        authorizeManagement,
      };
    },
  };
}

const pageLimitsOf = (configuration: Pick<Configuration<typeof commonProperties>, "get">): PageLimits => ({
  maxPageSize: () => configuration.get("limits.maxPageSize"),
  pageSize: () => configuration.get("defaults.pageSize"),
});
