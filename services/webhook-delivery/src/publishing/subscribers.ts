import { setImmediate } from "node:timers/promises";
import { canaryAccountId, catalogue } from "@signalbox/contracts";
import { type Clock, minutes } from "@signalbox/core";
import { deliveryIdOf } from "../deliveries/delivery-id.ts";
import { wants } from "../endpoints/endpoint.ts";
import { splitId } from "../endpoints/endpoint-id.ts";
import { isCustomName } from "../event-types/event-type.ts";
import type { OutgoingEvent } from "../events/outgoing-event.ts";
import { type AccountEndpoints, operators, type SigningEndpoint } from "../sending/signing-endpoint.ts";

interface Subscriber {
  readonly endpoint: SigningEndpoint;
  readonly deliveryId: string;
}

export type Subscribers = ReadonlyMap<OutgoingEvent, readonly Subscriber[]>;

/** Time for which filters and ids hold the process before others have a turn: a publication needs about five turns. */
const turnMs = 2;

/** Finds the endpoints that get each event, in turns: filters and ids of a large account can take seconds. */
export async function subscribersOf(
  clock: Pick<Clock, "steadyMs">,
  accounts: readonly AccountEndpoints[],
  events: readonly OutgoingEvent[],
): Promise<Subscribers> {
  const endpointsOf = new Map(accounts.map(({ accountId, endpoints }) => [accountId, endpoints]));
  const found = new Map<OutgoingEvent, Subscriber[]>();
  let startedMs = clock.steadyMs();
  for (const event of events) {
    const subscribers: Subscriber[] = [];
    const others = othersOf(endpointsOf.get(operators) ?? [], event);
    for (const endpoint of [...(endpointsOf.get(event.accountId) ?? []), ...others]) {
      if (isSubscriber(endpoint, event))
        subscribers.push({ endpoint, deliveryId: deliveryIdOf(event.id, event.createdAt, endpoint.id) });
      if (clock.steadyMs() - startedMs < turnMs) continue;
      await setImmediate();
      startedMs = clock.steadyMs();
    }
    found.set(event, subscribers);
  }
  return found;
}

/** Operators get the service's events about other accounts, not what those publish, and nothing of the canary. */
const othersOf = (endpoints: readonly SigningEndpoint[], { accountId, type }: OutgoingEvent) =>
  isCustomName(type) || accountId === canaryAccountId
    ? []
    : endpoints.filter((endpoint) => endpoint.accountId !== accountId);

/** Largest lag of a producer's clock behind ours. Beyond it, events count as older than they are. */
const clockSkewMs = minutes(3);

/**
 * Decides if the endpoint gets the event. It gets events that were committed after its creation. The two times come
 * from two clocks, and a slow clock must not cost a subscriber an event: so an event that seems slightly older than the
 * endpoint, but arrives after its creation, is delivered too. What an account publishes is committed now, whatever the
 * clock of this machine says.
 */
function isSubscriber(endpoint: SigningEndpoint, event: OutgoingEvent): boolean {
  const isOlder = !isCustomName(event.type) && event.createdAt.getTime() < endpoint.createdAt.getTime() - clockSkewMs;
  if (isOlder || splitId(endpoint.id).endpointId === event.aboutEndpoint || !wants(endpoint, event.names)) return false;
  return event.version === versionFor(endpoint, event.type) && endpoint.filter(event.data);
}

/** Returns the newest version of the type that is not newer than the one set for the endpoint. */
function versionFor({ settings }: SigningEndpoint, type: string): number {
  const max = settings.api_version === null ? Number.POSITIVE_INFINITY : Number(settings.api_version.slice(1));
  const versions = versionsOf.get(type) ?? [1];
  return Math.max(...versions.filter((version) => version <= max));
}

const versionsOf: ReadonlyMap<string, readonly number[]> = new Map(
  [...Map.groupBy(catalogue, ({ name }) => name)].map(([name, events]) => [name, events.map(({ version }) => version)]),
);
