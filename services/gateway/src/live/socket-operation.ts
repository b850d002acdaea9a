import type { LiveStream } from "./live-stream.ts";

/**
 * An operation of a connection, from its message until the last of its answer. After a client has completed it, another
 * one may have its id while this one is still being prepared.
 */
export class SocketOperation {
  readonly id: string;
  readonly #over = new AbortController();
  #stream: LiveStream | null = null;

  constructor(id: string) {
    this.id = id;
  }

  /** Aborts when the client has completed the operation, or the connection ends. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get isOver(): boolean {
    return this.signal.aborted;
  }

  /** The stream's current cursor; null for an operation without an open stream. */
  get cursor(): string | null {
    return this.#stream && !this.#stream.isClosed ? this.#stream.cursor() : null;
  }

  /** Owns the stream from now on; one that comes too late ends at once. */
  own(stream: LiveStream): void {
    this.#stream = stream;
    if (this.isOver) this.end();
  }

  end(): void {
    this.#over.abort();
    this.#stream?.close();
  }
}
