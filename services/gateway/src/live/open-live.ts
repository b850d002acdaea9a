import type { AccessStates, Authenticator } from "@signalbox/auth";
import { seconds } from "@signalbox/core";
import type { EventLog } from "@signalbox/events";
import type { Properties } from "@signalbox/gateway-service/properties";
import { createClientAddress, type RateLimits } from "@signalbox/http";
import type { ServiceContext } from "@signalbox/runtime";
import type { GraphQLSchema } from "graphql";
import type { Operations } from "../operations/operations.ts";
import { Live } from "./live.ts";
import { LiveCallers } from "./live-caller.ts";
import { Cursors } from "./live-cursor.ts";
import { LiveFeed } from "./live-feed.ts";
import { LiveSockets } from "./live-sockets.ts";
import { createSocketSignIn } from "./socket-sign-in.ts";

interface Dependencies {
  readonly context: ServiceContext<Properties>;
  readonly eventLog: EventLog;
  readonly operations: Operations;
  readonly schema: () => GraphQLSchema;
  readonly authenticator: Authenticator;
  readonly accessStates: AccessStates;
  readonly rateLimits: RateLimits;
}

/** Time over which a stopping instance closes its connections. */
const drainMs = seconds(3);
/** Longest time until a subscription that a reload has made invalid is ended when it has no events. */
const schemaMs = seconds(1);

/** Opens the subscriptions: their events, their callers, and their sockets. */
export async function openLive({ context, eventLog, operations, schema, ...access }: Dependencies) {
  const { configuration, log, metrics, runner, clock } = context;
  const callers = new LiveCallers({ ...access, runner, clock });
  const feed = new LiveFeed({ ...context, eventLog });
  const cursors = new Cursors(() => configuration.get("internal.token"));
  const isServed = () => configuration.get("capabilities.graphqlSubscriptions");
  const live = new Live({ isServed, feed, cursors, operations, schema, log, metrics });
  await feed.open(live.tell);
  const sockets = new LiveSockets({
    live,
    callers,
    operations,
    log,
    clientAddress: createClientAddress(configuration.get("http.trusted-proxies")),
    signIn: createSocketSignIn({
      ...access,
      ownOrigins: () => [new URL(configuration.get("http.base-url")).origin, ...configuration.get("http.cors.origins")],
    }),
  });
  runner.every("live schema", schemaMs, async () => live.followSchema());
  runner.defer("live connections", () => sockets.close());
  runner.onDrain("live data", () => {
    live.drain();
    return sockets.drain(drainMs);
  });
  return { live, callers, sockets };
}

export type OpenLive = Awaited<ReturnType<typeof openLive>>;
