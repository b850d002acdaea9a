import { connect } from "node:net";

/** The answers on a connection, in their order. */
export interface RawAnswer {
  readonly text: string;
  /** Status of every answer. */
  readonly statuses: readonly number[];
}

/** Silence after which the exchange counts as complete; most servers end the connection earlier. */
const silenceMs = 1_000;

/** Sends bytes unchanged, even ones that no client would send, and reads until the server is done. */
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
    // A reset connection counts as an answer.
    socket.on("error", () => {});
    socket.on("close", finish);
    socket.write(Buffer.from(bytes, "latin1"));
  });
}

/** Builds a request from its lines; each header is a line. */
export function rawRequest(line: string, headers: readonly string[], body = ""): string {
  return `${[`${line} HTTP/1.1`, ...headers].join("\r\n")}\r\n\r\n${body}`;
}
