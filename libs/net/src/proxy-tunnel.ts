import { connect as connectTcp, type Socket } from "node:net";
import { connectionCode, OutboundError } from "./outbound-error.ts";

/** Proxy that every connection of a client goes through. */
export interface OutboundProxy {
  readonly hostname: string;
  readonly port: number;
  /** Value of `Proxy-Authorization`; null without credentials. */
  readonly authorization: string | null;
}

/** Largest head of an answer to CONNECT. Its body does not matter, and no proxy sends a longer head. */
const headBytesMax = 16 * 1024;
const endOfHead = "\r\n\r\n";

/**
 * Reads `http://user:password@host:port`.
 * @throws RangeError that never shows the text, because it may hold a password
 */
export function parseProxy(text: string): OutboundProxy {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== "http:" || url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    throw new RangeError(
      "The proxy must be http://host:port, with user:password@ before the host if it needs credentials.",
    );
  }
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  const credentials = Buffer.from(`${user}:${password}`).toString("base64");
  return {
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port) || 80,
    authorization: user === "" && password === "" ? null : `Basic ${credentials}`,
  };
}

/**
 * Opens a tunnel to a checked address. The proxy gets the address instead of the name, so that it cannot resolve the
 * name to another one.
 * @throws OutboundError of the stage `proxy`
 */
export function openTunnel(
  proxy: OutboundProxy,
  { address, port }: { readonly address: string; readonly port: number },
  timeoutMs: number,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connectTcp({ host: proxy.hostname, port: proxy.port, noDelay: true });
  const fail = (error: OutboundError) => {
    clearTimeout(timer);
    socket.destroy();
    reject(error);
  };
  const timer = setTimeout(() => fail(proxyError("The proxy did not answer.", "ETIMEDOUT")), timeoutMs);
  const target = `${address.includes(":") ? `[${address}]` : address}:${port}`;
  const authorization = proxy.authorization === null ? "" : `Proxy-Authorization: ${proxy.authorization}\r\n`;
  socket.on("error", (error) => fail(proxyError("The proxy cannot be reached.", connectionCode(error), error)));
  socket.on("close", () => fail(proxyError("The proxy closed the connection.", "closed")));
  socket.once("connect", () => socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorization}\r\n`));

  let head = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(endOfHead);
    if (end < 0 && head.length <= headBytesMax) return;
    const status = end < 0 ? null : statusOf(head.toString("latin1", 0, end));
    if (status === null) return fail(proxyError("The proxy did not respond with HTTP.", "malformed"));
    if (status === 407) return fail(proxyError("The proxy rejected the credentials.", "unauthorized"));
    if (status < 200 || status > 299) return fail(proxyError(`The proxy answered ${status}.`, "refused"));
    clearTimeout(timer);
    socket.removeAllListeners();
    socket.pause();
    const rest = head.subarray(end + endOfHead.length);
    if (rest.length > 0) socket.unshift(rest);
    resolve(socket);
  });
  return promise;
}

function statusOf(head: string): number | null {
  const status = /^HTTP\/1\.[01] (\d{3})( |$)/.exec(head.split("\r\n", 1)[0] ?? "")?.[1];
  return status === undefined ? null : Number(status);
}

const proxyError = (message: string, code: OutboundError["code"], cause?: unknown): OutboundError =>
  new OutboundError("proxy", message, { code, cause });
