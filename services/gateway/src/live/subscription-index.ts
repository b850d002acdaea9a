import { seesEndpoint } from "@signalbox/auth";
import { type SubscriptionDeclaration, subscriptions } from "@signalbox/contracts";
import type { LiveCaller } from "./live-caller.ts";
import type { LiveEvent } from "./live-event.ts";
import type { LiveOperation } from "./live-operation.ts";

/** Inputs for choosing the recipients of an event. */
interface Subscriber {
  readonly caller: LiveCaller;
  readonly operation: LiveOperation;
}

const declarations: readonly SubscriptionDeclaration[] = Object.values(subscriptions);

/** Subscriptions by field and account, so that an event is compared only with possible recipients. */
export class SubscriptionIndex<One extends Subscriber> {
  readonly #byPlace = new Map<string, Set<One>>();

  add(one: One): void {
    const key = placeOf(one);
    const place = this.#byPlace.get(key) ?? new Set();
    this.#byPlace.set(key, place.add(one));
  }

  remove(one: One): void {
    const key = placeOf(one);
    const place = this.#byPlace.get(key);
    place?.delete(one);
    if (place?.size === 0) this.#byPlace.delete(key);
  }

  *for(event: LiveEvent["event"]): Iterable<One> {
    for (const { events, field } of declarations) {
      if (!events.includes(event.name)) continue;
      for (const accountId of event.accountId === null ? [""] : ["", event.accountId]) {
        for (const one of this.#byPlace.get(`${field} ${accountId}`) ?? []) if (isFor(one, event)) yield one;
      }
    }
  }
}

/** Returns true when an event of the subscription's topics is visible to this caller and requested. */
export function isFor({ caller, operation }: Subscriber, { name, accountId, data }: LiveEvent["event"]): boolean {
  const { declaration, onlyId } = operation;
  const members = data as Readonly<Record<string, unknown>>;
  if (!declaration.events.includes(name)) return false;
  if (onlyId !== null && declaration.only?.idOf(members) !== onlyId) return false;
  if ("audienceOf" in declaration.access) return caller.isOf(declaration.access.audienceOf(members));
  const { principal } = caller;
  if (accountId === null || accountId !== principal?.accountId) return false;
  return principal.portal === undefined || seesEndpoint(principal, String(declaration.only?.idOf(members)));
}

/** The empty account is that of public events. */
const placeOf = ({ caller, operation: { declaration } }: Subscriber): string =>
  `${declaration.field} ${"scope" in declaration.access ? (caller.principal?.accountId ?? "") : ""}`;
