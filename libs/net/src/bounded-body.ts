import type { Writable } from "node:stream";
import type { Dispatcher } from "undici";

type Flow = Pick<Dispatcher.DispatchController, "pause" | "resume">;

/** The body of a response, kept in memory or written to a stream that sets the pace. */
export class BoundedBody {
  readonly #into: Writable | undefined;
  #chunks: Buffer[] = [];
  #room: number;

  constructor(bytesMax: number, into?: Writable) {
    this.#room = bytesMax;
    this.#into = into;
  }

  /** Number of bytes that still fit. */
  get room(): number {
    return this.#room;
  }

  add(chunk: Buffer, flow: Flow): void {
    this.#room -= chunk.length;
    if (!this.#into) this.#chunks.push(chunk);
    else if (!this.#into.write(chunk)) {
      flow.pause();
      this.#into.once("drain", () => flow.resume());
    }
  }

  /** Returns the bytes in memory; none when they went into a stream. */
  bytes(): Buffer {
    return this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
  }

  discard(): void {
    this.#chunks = [];
  }
}
