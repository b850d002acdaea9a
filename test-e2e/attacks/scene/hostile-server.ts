import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

/**
 * Writes an answer in parts, which are sent one after another for as long as the client reads. An empty answer is
 * silence.
 */
export type HostileAnswer = (path: string, host: string) => Iterable<string | Buffer>;

/** A server with arbitrary answers. */
export interface HostileServer {
  readonly url: string;
  readonly port: number;
  /** Sets the answer below `/<name>`. */
  serve(name: string, answer: HostileAnswer): void;
  /** Returns the number of bytes read of answers below `/<name>`. */
  bytesTaken(name: string): number;
  /** Returns the number of requests below `/<name>`. */
  visits(name: string): number;
  close(): Promise<void>;
}

/** Limit of an endless answer: a client that reads so much would read everything. */
const bytesMax = 256 * 1024 * 1024;

export async function createHostileServer(): Promise<HostileServer> {
  const answers = new Map<string, HostileAnswer>();
  const taken = new Map<string, number>();
  const visits = new Map<string, number>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // The client is expected to disconnect in the middle.
    socket.on("error", () => {});
    socket.once("data", (head) => {
      const [, path = "/", name = ""] = /^\S+ (\/([^/ ?]*)\S*)/.exec(head.toString("latin1")) ?? [];
      visits.set(name, (visits.get(name) ?? 0) + 1);
      const answer = answers.get(name);
      if (answer === undefined) return void socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
      void pour(socket, answer(path, url), (bytes) => taken.set(name, (taken.get(name) ?? 0) + bytes));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    port,
    serve: (name, answer) => void answers.set(name, answer),
    bytesTaken: (name) => taken.get(name) ?? 0,
    visits: (name) => visits.get(name) ?? 0,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends at the client's pace, so that the bytes sent are the bytes read, except for socket buffers. */
async function pour(socket: Socket, parts: Iterable<string | Buffer>, count: (bytes: number) => void): Promise<void> {
  let sent = 0;
  for (const part of parts) {
    if (socket.destroyed || sent > bytesMax) break;
    if (part.length === 0) return; // the connection stays open in silence
    const bytes = typeof part === "string" ? Buffer.from(part, "latin1") : part;
    const goesOn = socket.write(bytes);
    sent += bytes.length;
    count(bytes.length);
    if (!goesOn) await drained(socket);
  }
  socket.end();
}

/** Waits until the client has read on or is gone. No listener stays: an endless answer waits thousands of times. */
async function drained(socket: Socket): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  await Promise.race([once(socket, "drain", { signal }), once(socket, "close", { signal })]).catch(() => {});
  waiting.abort();
}
