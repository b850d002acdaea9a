import type { Authenticator, Caller } from "@signalbox/auth";
import type { Pool } from "@signalbox/storage";
import type { Counter, Histogram } from "@signalbox/telemetry";
import type { IdempotencyStore } from "../idempotency/idempotency-store.ts";
import type { RateLimitGroups } from "../limits/rate-limit-group.ts";
import type { ClientAddress } from "../request/client-address.ts";
import type { Cors } from "../responses/cors.ts";
import type { Refusal } from "../responses/http-response.ts";
import type { HttpContext } from "./http-context.ts";
import type { Traffic } from "./traffic.ts";

/** A request that a known caller was not allowed to make. */
export interface ForbiddenRequest {
  readonly caller: Caller;
  /** `DELETE /api/account/`: the route as it is declared, without what the caller filled in. */
  readonly operation: string;
  readonly refusal: Pick<Refusal, "code" | "details">;
}

/** The parts that all routes of an app share. */
export interface Edge {
  readonly context: HttpContext;
  readonly clientAddress: ClientAddress;
  /** Null on the internal listener, whose callers have shown the internal token. */
  readonly authenticator: Authenticator | null;
  readonly rateLimits: RateLimitGroups | null;
  readonly idempotency: IdempotencyStore | null;
  /** Null for a service without a database. */
  readonly pool: Pool | null;
  readonly onForbidden: ((request: ForbiddenRequest) => void) | null;
  readonly cors: Cors;
  readonly strict: boolean;
  /** The page that explains the error codes. */
  readonly errorDocs: string;
  readonly duration: Histogram<"method" | "route" | "status">;
  readonly limited: Counter<"limit">;
  readonly traffic: Traffic;
  /** Values of live properties, kept current. */
  readonly live: { requestTimeoutMs: number; requestBytesMax: number };
}
