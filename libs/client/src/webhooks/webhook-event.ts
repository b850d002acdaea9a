import type { components } from "../generated/api.d.ts";
import type { EventTypes } from "../generated/events.d.ts";

/** The data of every type that Signalbox itself sends, by name. */
export interface BuiltInEvents extends EventTypes {
  /** Sent by `POST /api/v1/webhooks/endpoints/{id}/test`. */
  "webhook_endpoint.test": components["schemas"]["WebhookEndpoint"];
}

interface Envelope<Type extends string, Data> {
  /** The same for every attempt and replay: a receiver that remembers it handles an event once. */
  readonly id: string;
  readonly type: Type;
  /** RFC 3339, UTC. */
  readonly created_at: string;
  readonly data: Data;
  /** Version of the data, such as `v1`. */
  readonly api_version: string;
  /** The account whose event it is; null for an event of the whole deployment. */
  readonly account_id: string | null;
  /** The subject of an event of the account's own. */
  readonly subject?: string;
}

/**
 * The compiler's stand-in for every name that was not declared; the value is the bare name. A pattern that no name has
 * keeps `type` distinct, so that a comparison narrows the data, and its text says in an error what to do.
 */
type UndeclaredType = `${string} (undeclared: verify<{ "its.name": Data }>)`;

/** An event of an account's own, or of a newer Signalbox. */
export type UndeclaredEvent = Envelope<UndeclaredType, unknown>;

type EventsOf<Types> = { [Type in keyof Types & string]: Envelope<Type, Types[Type]> }[keyof Types & string];

/**
 * An event, distinguished by `type`: those of Signalbox, those that the parameter declares, and any other one with
 * unknown data.
 */
export type WebhookEvent<Custom = unknown> = EventsOf<BuiltInEvents> | EventsOf<Custom> | UndeclaredEvent;
