import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { OutboundCode } from "./outbound-error.ts";
import type { ConnectionTiming } from "./ssrf-guard.ts";

/** Limits of what a connection may receive. */
export interface ConnectionGuard {
  /** Marks the start of a request. */
  expectAnswer(): void;
  /** Returns the problem of a head, or null. */
  problemOf(headers: IncomingHttpHeaders): readonly [OutboundCode, string] | null;
  /** Counts bytes read of a body. */
  countBody(bytes: number): void;
  endAnswer(): void;
}

/** The connection of an exchange: its address, and the guard of its answers; see `connection-pool.ts`. */
export interface Carrier {
  remoteAddress: string | undefined;
  guard: ConnectionGuard | undefined;
  /** Timing of a new connection; only its first exchange reports it. */
  opened: ConnectionTiming | undefined;
  /** Stops new exchanges on a shared connection (HTTP/2). A connection that is not shared ends with its exchange. */
  retire: (() => void) | undefined;
}

/** Handler of an exchange, which gets its connection from the pool. */
export interface CarriedHandler extends Dispatcher.DispatchHandler {
  carrier?: Carrier;
}
