import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { ConnectionTiming } from "./guarded-connector.ts";
import type { OutboundCode } from "./outbound-error.ts";

/** Bounds what a connection may bring. */
export interface ConnectionGuard {
  /** A request is about to leave. */
  expectAnswer(): void;
  /** What is wrong with a head; null for nothing. */
  problemOf(headers: IncomingHttpHeaders): readonly [OutboundCode, string] | null;
  /** So much of a body was read. */
  countBody(bytes: number): void;
  endAnswer(): void;
}

/** The connection of an exchange: where it leads to, and what guards its answers; see `connection-pool.ts`. */
export interface Carrier {
  remoteAddress: string | undefined;
  guard: ConnectionGuard | undefined;
  /** For the first exchange on it. */
  opened: ConnectionTiming | undefined;
  /** Of a connection that exchanges share (HTTP/2): it takes no more of them. One that is not shared ends with its exchange. */
  retire: (() => void) | undefined;
}

/** The handler of an exchange, which the pool tells of the connection that carries it. */
export interface CarriedHandler extends Dispatcher.DispatchHandler {
  carrier?: Carrier;
}
