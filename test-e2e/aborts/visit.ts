import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** The ways in which a client leaves: `fin` closes both directions, `half-close` its own alone. */
export const departures = ["fin", "half-close", "reset"] as const;

/** Bytes of a client. With `after` they wait for this text in the answer. */
export interface Piece {
  readonly bytes: Buffer;
  readonly after?: string;
}

/** One connection of a client that leaves before it has everything. */
export interface Visit {
  readonly pieces: readonly Piece[];
  /** Number of bytes of the answer after which the client leaves; 0 for one that reads nothing. */
  readonly answerBytes: number;
  /** Time after the last sent byte at which the client leaves anyway. */
  readonly patienceMs: number;
  readonly departure: (typeof departures)[number];
}

/** Longest wait for the text that a piece follows, and for the server's end of a half-closed connection. */
const patienceMsMax = 2_000;
const halfClosedMs = 300;

/** Makes a visit, and returns the bytes that came until its end. */
export async function makeVisit(baseUrl: string, visit: Visit): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  // A server may refuse or end the connection at any time.
  socket.on("error", () => {});
  let received = "";
  const isReading = visit.answerBytes > 0 || visit.pieces.some(({ after }) => after !== undefined);
  if (isReading) socket.on("data", (chunk) => (received += chunk.toString("latin1")));
  const until = (holds: () => boolean, timeoutMs: number) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (holds() || socket.destroyed) finish();
      };
      const finish = () => {
        clearTimeout(timer);
        socket.off("close", finish);
        if (isReading) socket.off("data", look);
        resolve();
      };
      const timer = setTimeout(finish, timeoutMs);
      socket.on("close", finish);
      if (isReading) socket.on("data", look);
      look();
    });
  for (const { bytes, after } of visit.pieces) {
    if (after !== undefined) await until(() => received.includes(after), patienceMsMax);
    if (socket.destroyed || socket.writableEnded) break;
    await new Promise<void>((resolve) => {
      socket.write(bytes, () => resolve());
      socket.once("close", () => resolve());
    });
  }
  if (visit.answerBytes > 0) await until(() => received.length >= visit.answerBytes, visit.patienceMs);
  else await sleep(visit.patienceMs);
  if (visit.departure === "reset") socket.resetAndDestroy();
  else if (visit.departure === "fin") socket.destroy();
  else {
    socket.end();
    await until(() => socket.readableEnded, halfClosedMs);
    socket.destroy();
  }
  return received;
}
