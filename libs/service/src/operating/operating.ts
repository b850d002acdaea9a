import type { Caller } from "@signalbox/auth";
import type { Scope } from "@signalbox/contracts";
import { AppError, type Clock, type ServiceName } from "@signalbox/core";
import type { EventLog, Outbox } from "@signalbox/events";
import { forwardedCaller, type RouteInput, strongEtag } from "@signalbox/http";
import type { Pool } from "@signalbox/storage";
import { z } from "zod";
import type { AuditChange } from "../audit/audit-entry.ts";

/** A consumer group that a service answers for. */
export interface AnsweredGroup {
  readonly service: ServiceName;
  /** `<service>.<name>` */
  readonly group: string;
  readonly topics: readonly string[];
  /** False for a group without parked messages, because its service has no database. */
  readonly parks: boolean;
}

/** The parts from which a service answers operators for what it owns. */
export interface OperatingParts {
  readonly service: ServiceName;
  readonly clock: Clock;
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly outbox: Outbox;
  readonly groups: readonly AnsweredGroup[];
}

/** Records that an operator read a body, before it is shown; the same read is one entry a minute. */
export type RecordRead = (caller: Caller, read: AuditChange) => Promise<void>;

/** The prefix of the routes by which the gateway asks for the operating state. */
export const operatingBase = "/internal/operations/";

/** The admission of a route by which the gateway asks: `operatorOf` judges the administrator whom it forwards. */
export const operatingAuth = { auth: "anonymous", rateLimit: "none" } as const;

/**
 * The parameters of a list: the gateway joins the lists of all services by the same order, and asks for one more than
 * `limits.maxPageSize`, which is 1,000 at most.
 */
export const OperatingRange = z.object({
  service: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(1001),
  after_at: z.iso.datetime().optional(),
  after_id: z.string().max(2048).optional(),
});

/** Returns the start of a list from its parameters. */
export function startOf({ limit, after_at, after_id = "" }: z.output<typeof OperatingRange>) {
  return { limit, after: after_at === undefined ? null : { at: new Date(after_at), id: after_id } };
}

/** Returns the administrator on whose behalf the gateway asks. @throws AppError `forbidden` without the scope */
export function operatorOf({ headers }: Pick<RouteInput, "headers">, scope: Scope): Caller {
  const caller = forwardedCaller(headers);
  if (caller.scopes.has(scope)) return caller;
  throw new AppError("forbidden", `The scope ${scope} is required.`);
}

/** Names the state of a thing, for `If-Match`. */
export const versionOf = (id: string, ...state: readonly (string | number | bigint)[]): string =>
  strongEtag(state.join(" "), id).slice(1, -1);

export const noSuch = (what: string): AppError => new AppError("not_found", `There is no such ${what}.`);
