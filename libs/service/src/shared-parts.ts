import type { AccessStates } from "@signalbox/auth";
import type { RateLimiters } from "@signalbox/cache";
import type { EventLog } from "@signalbox/events";
import type { Overrides } from "./overrides/open-overrides.ts";

/**
 * What a process that runs several services opens once for all of them (DESIGN §3) and adds to each one's context. A
 * service that has the process to itself finds nothing here and opens its own.
 */
export interface SharedParts {
  readonly eventLog?: EventLog;
  readonly accessStates?: AccessStates;
  readonly overrides?: Overrides;
  /** A limit counts for the whole process, whichever of its services is asked. */
  readonly limiters?: RateLimiters;
}
