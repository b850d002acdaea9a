import { once } from "node:events";
import type { Duplex, Readable, Writable } from "node:stream";
import pg from "pg";

/** The connection that pg passes to a statement of the copy protocol; pg's types lack it. */
interface CopyConnection {
  readonly stream: Duplex;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

const rowsOf = (tag: string): number => Number(/^COPY (\d+)$/.exec(tag)?.[1] ?? Number.NaN);

/** Streams the output of `copy … to stdout` to the target, which stays open; returns the number of rows. */
export function copyOut(client: pg.Client, statement: string, target: Writable): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let rows = 0;
  client.query({
    submit: (connection: CopyConnection) => connection.query(statement),
    handleCopyData({ chunk }: { chunk: Buffer }, { stream }: CopyConnection) {
      // The driver reuses its buffer. A failed target takes nothing more, and its owner knows why.
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

/** Streams the source into `copy … from stdin`; returns the number of rows. A failing source leaves no row. */
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

/** Opens a connection without any time limit: a table may be large. */
export async function connectForBackup(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "signalbox backup",
    // A form that every server reads back to the last digit, regardless of its settings.
    options:
      "-c search_path=public -c statement_timeout=0 -c DateStyle=ISO -c IntervalStyle=iso_8601 -c extra_float_digits=1",
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  client.on("error", () => {}); // a lost connection shows in the pending statement
  await client.connect();
  return client;
}
