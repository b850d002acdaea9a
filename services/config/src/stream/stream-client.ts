import type { ServerResponse } from "node:http";
import type { PresentedCredential, Principal } from "@signalbox/auth";
import { KiB } from "@signalbox/core";

/** A client that takes so little that this much waits for it is ended: it reads again from where it was. */
const behindBytesMax = 256 * KiB;
/** Clients that are sent away at once should not be back at once. */
const retryMs = { least: 1_000, spread: 9_000 };

/** Why a stream ends. */
export type StreamEnd = "expired" | "access_changed" | "draining" | "switched_off";

/** Who follows a stream, and by what they were let in. */
export interface Follower {
  readonly principal: Principal;
  readonly credential: PresentedCredential;
}

/** One open stream. Events that come while it is brought up to date wait behind what it missed. */
export class StreamClient {
  readonly principal: Principal;
  readonly credential: PresentedCredential;
  /** The revision up to which it has seen everything, also where this instance has not heard of it yet. */
  seen: number;
  readonly #response: ServerResponse;
  #waiting: Buffer[] | null = [];

  constructor({ principal, credential }: Follower, response: ServerResponse, seen = 0) {
    this.principal = principal;
    this.credential = credential;
    this.seen = seen;
    this.#response = response;
  }

  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  /** Sends what has just happened. */
  tell(frame: Buffer): void {
    if (this.#waiting === null) this.write(frame);
    else this.#waiting.push(frame);
  }

  /** Ends the time in which it is brought up to date. */
  goLive(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const frame of waiting) this.write(frame);
  }

  /** Sends at once. A client that is too far behind loses its connection, never an event of it. */
  write(frame: Buffer): void {
    if (!this.isOpen) return;
    this.#response.write(frame);
    if (this.#response.writableLength > behindBytesMax) this.#response.destroy();
  }

  /** Waits until the client has taken what was written, for a long history. */
  async taken(): Promise<void> {
    while (this.isOpen && this.#response.writableNeedDrain) {
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#response.off("drain", done).off("close", done);
          resolve();
        };
        this.#response.on("drain", done).on("close", done);
      });
    }
  }

  end(reason: StreamEnd): void {
    if (!this.isOpen) return;
    const retry = retryMs.least + Math.floor(Math.random() * retryMs.spread);
    this.#response.end(`retry: ${retry}\nevent: end\ndata: ${JSON.stringify({ reason })}\n\n`);
  }
}
