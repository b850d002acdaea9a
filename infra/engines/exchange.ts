import { connect } from "node:net";

/**
 * Sends `request` to a port of 127.0.0.1 and returns the first bytes of the answer, or `null` when nobody answers in
 * time. The probes of the engines are built on it: an open port alone does not say that the engine behind it is up.
 */
export function exchange(port: number, request: Uint8Array | string): Promise<Buffer | null> {
  return new Promise((settle) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const end = (answer: Buffer | null) => {
      socket.destroy();
      settle(answer);
    };
    socket.setTimeout(1_000, () => end(null));
    socket.once("connect", () => socket.write(request));
    socket.once("data", (answer) => end(answer));
    socket.once("error", () => end(null));
    socket.once("close", () => settle(null));
  });
}

/** True when a server of HTTP answers a GET on a port of 127.0.0.1, with a status line that begins so. */
export async function answersHttp(port: number, path = "/", begin = "HTTP/1.1"): Promise<boolean> {
  const answer = await exchange(port, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
  return answer?.toString().startsWith(begin) ?? false;
}
