import { once } from "node:events";
import type { Duplex, Readable, Writable } from "node:stream";
import type pg from "pg";

/** What pg hands to a statement that speaks the copy protocol; its types do not tell of it. */
interface CopyConnection {
  readonly stream: Duplex;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

const rowsOf = (tag: string): number => Number(/^COPY (\d+)$/.exec(tag)?.[1] ?? Number.NaN);

/** Writes what `copy … to stdout` gives to the target, which stays open; answers how many rows it was. */
export function copyOut(client: pg.Client, statement: string, target: Writable): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let rows = 0;
  client.query({
    submit: (connection: CopyConnection) => connection.query(statement),
    handleCopyData({ chunk }: { chunk: Buffer }, { stream }: CopyConnection) {
      // The driver writes over its buffer. A target that has failed takes nothing more, and its owner knows why.
      if (target.destroyed || target.write(Buffer.from(chunk))) return;
      stream.pause();
      const go = () => {
        target.off("drain", go).off("close", go);
        stream.resume();
      };
      target.on("drain", go).on("close", go);
    },
    handleCommandComplete: ({ text }: { text: string }) => {
      rows = rowsOf(text);
    },
    handleReadyForQuery: () => resolve(rows),
    handleError: reject,
  } as unknown as pg.Submittable);
  return promise;
}

/** Gives the source to `copy … from stdin`; answers how many rows that were. A source that fails leaves none. */
export function copyIn(client: pg.Client, statement: string, source: Readable): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const ended = new AbortController();
  let rows = 0;
  let failure: unknown;

  async function feed(connection: CopyConnection): Promise<void> {
    try {
      for await (const chunk of source) {
        if (ended.signal.aborted) return;
        connection.sendCopyFromChunk(chunk);
        if (connection.stream.writableNeedDrain) await once(connection.stream, "drain", { signal: ended.signal });
      }
      connection.endCopyFrom();
    } catch (error) {
      if (ended.signal.aborted) return;
      failure = error;
      connection.sendCopyFail("the source failed");
    }
  }
  client.query({
    submit: (connection: CopyConnection) => connection.query(statement),
    handleCopyInResponse: (connection: CopyConnection) => void feed(connection),
    handleCommandComplete: ({ text }: { text: string }) => {
      rows = rowsOf(text);
    },
    handleReadyForQuery: () => resolve(rows),
    handleError: (error: unknown) => {
      ended.abort();
      reject(failure ?? error);
    },
  } as unknown as pg.Submittable);
  return promise;
}
