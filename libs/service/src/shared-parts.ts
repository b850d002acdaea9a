import type { AccessStates } from "@signalbox/auth";
import type { EventLog } from "@signalbox/events";
import type { RateLimiters } from "@signalbox/storage";
import type { Overrides } from "./overrides/open-overrides.ts";

/**
 * The parts that a process of several services opens once for all of them (DESIGN §3) and adds to each one's context. A
 * service with its own process finds nothing here and opens its own.
 */
export interface SharedParts {
  readonly eventLog?: EventLog;
  readonly accessStates?: AccessStates;
  readonly overrides?: Overrides;
  /** Count limits for the whole process, over all its services. */
  readonly limiters?: RateLimiters;
}
