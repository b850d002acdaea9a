import { connect } from "node:net";

/** What came back over a connection, in the order in which it came. */
export interface RawAnswer {
  readonly text: string;
  /** The status of every answer. */
  readonly statuses: readonly number[];
}

/** How long nothing may come before the other side counts as having said everything; most end the connection before. */
const silenceMs = 1_000;

/** Sends bytes as they are, also such as no client would send, and reads until the other side is done. */
export function rawExchange(baseUrl: string, bytes: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    const finish = () => {
      socket.destroy();
      const text = Buffer.concat(chunks).toString("latin1");
      const statuses = [...text.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map(([, status]) => Number(status));
      resolve({ text, statuses });
    };
    socket.setTimeout(silenceMs, () => {
      if (chunks.length > 0 || socket.bytesWritten > 0) finish();
    });
    socket.on("data", (chunk) => chunks.push(chunk));
    // A connection that is cut is an answer as well.
    socket.on("error", () => {});
    socket.on("close", finish);
    socket.write(Buffer.from(bytes, "latin1"));
  });
}

/** A request with its lines as given; each header is a line. */
export function rawRequest(line: string, headers: readonly string[], body = ""): string {
  return `${[`${line} HTTP/1.1`, ...headers].join("\r\n")}\r\n\r\n${body}`;
}
