import type { Authenticator, Caller } from "@signalbox/auth";
import { errorDocsAt } from "@signalbox/core";
import type { Counter, Histogram } from "@signalbox/runtime";
import type { Pool } from "@signalbox/storage";
import type { IdempotencyStore } from "../idempotency/idempotency-store.ts";
import type { RateLimitGroups } from "../limits/rate-limits.ts";
import type { ClientAddress, Cors } from "../request/client-address.ts";
import type { HttpContext } from "../request/http-properties.ts";
import type { Refusal } from "../routes/http-response.ts";
import { type Traffic, trafficOf } from "./traffic.ts";

/** A request that was forbidden to a known caller. */
export interface ForbiddenRequest {
  readonly caller: Caller;
  /** `DELETE /api/account/`: the route as declared, without the values of the caller. */
  readonly operation: string;
  readonly refusal: Pick<Refusal, "code" | "details">;
}

/** A refused call of a known caller, without anything that the caller sent. */
export interface RefusedRequest {
  readonly caller: Caller;
  /** The route as declared. */
  readonly operation: string;
  readonly status: number;
  readonly code: string;
  readonly refusedAt: Date;
  /** 32 hexadecimal digits. */
  readonly traceId: string;
}

/** The shared parts of all routes of an app. */
export interface Edge {
  readonly context: HttpContext;
  readonly clientAddress: ClientAddress;
  /** Null on the internal listener, whose callers have presented the internal token. */
  readonly authenticator: Authenticator | null;
  readonly rateLimits: RateLimitGroups | null;
  readonly idempotency: IdempotencyStore | null;
  /** Null for a service without a database. */
  readonly pool: Pool | null;
  readonly onForbidden: ((request: ForbiddenRequest) => void) | null;
  readonly onRefused: ((request: RefusedRequest) => void) | null;
  readonly cors: Cors;
  readonly strict: boolean;
  /** URL of the page that explains the error codes. */
  readonly errorDocs: string;
  /** URL of the metadata that tell a client the issuers of our tokens (RFC 9728 §3.1). */
  readonly resourceMetadata: string;
  /** True where the base URL is https. */
  readonly isHttps: boolean;
  readonly duration: Histogram<"method" | "route" | "status">;
  readonly limited: Counter<"limit">;
  readonly traffic: Traffic;
  /** Values of live properties, kept up to date. */
  readonly live: { requestTimeoutMs: number; requestBytesMax: number };
}

/**
 * Creates the shared parts of an app's routes: metrics, and live limits that are read without a look-up per request.
 */
export function createEdge(
  context: HttpContext,
  parts: Omit<
    Edge,
    "context" | "errorDocs" | "resourceMetadata" | "isHttps" | "duration" | "limited" | "traffic" | "live"
  >,
): Edge {
  const { configuration, metrics, clock } = context;
  const errorDocs = errorDocsAt(configuration.get("http.error-docs"), configuration.get("http.base-url"));
  const resourceMetadata = resourceMetadataOf(configuration.get("http.base-url"));
  const isHttps = configuration.get("http.base-url").startsWith("https:");
  const live = {
    requestTimeoutMs: configuration.get("limits.requestTimeoutSeconds") * 1000,
    requestBytesMax: configuration.get("limits.maxRequestBytes"),
  };
  configuration.onChange("limits.requestTimeoutSeconds", (secondsMax) => {
    live.requestTimeoutMs = secondsMax * 1000;
  });
  configuration.onChange("limits.maxRequestBytes", (bytes) => {
    live.requestBytesMax = bytes;
  });
  const duration = metrics.histogram("http_server_request_duration_seconds");
  const measured = {
    duration,
    limited: metrics.counter("signalbox_http_limited_total"),
    traffic: trafficOf(metrics, clock),
  };
  return { context, ...parts, errorDocs, resourceMetadata, isHttps, ...measured, live };
}

/** The path of the metadata of a protected resource on its host; the path of the resource follows. */
export const resourceMetadataPrefix = "/.well-known/oauth-protected-resource";

/** Returns the address of the metadata of this deployment as a protected resource (RFC 9728 §3.1). */
export function resourceMetadataOf(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl);
  return `${origin}${resourceMetadataPrefix}${pathname.replace(/\/$/, "")}`;
}
