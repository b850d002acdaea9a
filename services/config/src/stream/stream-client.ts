import type { ServerResponse } from "node:http";
import type { PresentedCredential, Principal } from "@signalbox/auth";
import { KiB } from "@signalbox/core";
import { untilDrained } from "@signalbox/http";

/** Largest backlog of a slow client; beyond it the stream ends, and the client resumes from its last id. */
const behindBytesMax = 256 * KiB;
/** Spreads the reconnection of clients whose streams end together. */
const retryMs = { least: 1_000, spread: 9_000 };
/** Time in which a client takes the end of its stream, before its connection is closed. */
const farewellMs = 10_000;

/** The reason of a stream's end. */
export type StreamEnd = "expired" | "access_changed" | "draining" | "switched_off" | "failed";

/** The follower of a stream, and its access. */
export interface Follower {
  readonly principal: Principal;
  readonly credential: PresentedCredential;
}

/** One open stream. New events during its catch-up are queued behind the missed ones. */
export class StreamClient {
  readonly principal: Principal;
  readonly credential: PresentedCredential;
  /** The revision up to which it has seen everything, possibly ahead of this instance. */
  seen: number;
  readonly #response: ServerResponse;
  #waiting: Buffer[] | null = [];
  #waitingBytes = 0;

  constructor({ principal, credential }: Follower, response: ServerResponse, seen = 0) {
    this.principal = principal;
    this.credential = credential;
    this.seen = seen;
    this.#response = response;
  }

  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  send(frame: Buffer): void {
    if (this.#waiting === null) {
      this.write(frame);
      return;
    }
    this.#waiting.push(frame);
    this.#waitingBytes += frame.length;
    if (this.#waitingBytes > behindBytesMax) this.#response.destroy();
  }

  /** Ends the catch-up. */
  goLive(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const frame of waiting) this.write(frame);
  }

  /** Sends immediately. A client too far behind loses its connection, never an event. */
  write(frame: Buffer): void {
    if (!this.isOpen) return;
    this.#response.write(frame);
    if (this.#response.writableLength > behindBytesMax) this.#response.destroy();
  }

  /** Waits until the client has received the written data, for a long history. */
  async drained(): Promise<void> {
    while (this.isOpen && this.#response.writableNeedDrain) await untilDrained(this.#response);
  }

  end(reason: StreamEnd): void {
    if (!this.isOpen) return;
    const retry = retryMs.least + Math.floor(Math.random() * retryMs.spread);
    this.#response.end(`retry: ${retry}\nevent: end\ndata: ${JSON.stringify({ reason })}\n\n`);
    const timer = setTimeout(() => this.#response.destroy(), farewellMs).unref();
    this.#response.once("close", () => clearTimeout(timer));
  }
}
