import type { Caller } from "@signalbox/auth";
import type { Complete } from "@signalbox/service";
import type { Misfit } from "../event-types/schema-check.ts";
import type { OutgoingEvent, PublishedId } from "./outgoing-event.ts";

export const eventsMax = 100;

export interface Publication {
  readonly caller: Caller;
  readonly events: readonly OutgoingEvent[];
  /** The ids that the publisher chose, each once. */
  readonly ids: readonly PublishedId[];
  /** For each event its mismatch with a schema that only warns, or null. */
  readonly warnings: readonly (Misfit | null)[];
  /** Absent for a request without an `Idempotency-Key`. */
  readonly complete: Complete<PublishOutcome> | undefined;
}

export interface Published {
  readonly id: string;
  readonly type: string;
  /** True for a repetition, which is not delivered a second time. */
  readonly duplicate: boolean;
  /** Mismatches with the schema of a type that only warns: JSON Pointers with the reason. */
  readonly warnings: readonly Misfit[];
}

export type PublishOutcome =
  | { readonly outcome: "published"; readonly published: readonly Published[] }
  /** A different event was published under this id, before or in the same request. */
  | { readonly outcome: "conflict"; readonly index: number }
  /** The data do not match the schema of a type that blocks. */
  | { readonly outcome: "misfit"; readonly index: number; readonly misfit: Misfit };

export type Unpublished = Exclude<PublishOutcome, { readonly outcome: "published" }>;
