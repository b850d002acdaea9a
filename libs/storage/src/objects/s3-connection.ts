import { AsyncLocalStorage } from "node:async_hooks";
import type { ClientRequest, IncomingMessage } from "node:http";
import http from "node:http";
import type { RequestOptions } from "node:https";
import https from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { urlToHttpOptions } from "node:url";
import { isUnavailable, seconds, systemClock } from "@signalbox/core";
import type { Client } from "minio";
import { type PutOptions, storeAway } from "./object-store.ts";
import { presignPut } from "./presign-put.ts";
import type { S3Location } from "./s3-location.ts";

interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** Absent for the bucket itself. */
  readonly key?: string;
  readonly signal?: AbortSignal | undefined;
}

/** A refusal of the S3 server. `code` is its error code, such as `NoSuchBucket`. */
export class S3Refusal extends Error {
  override readonly name = "S3Refusal";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, options?: ErrorOptions) {
    super(`the object store answered ${status} ${code}`.trim(), options);
    this.status = status;
    this.code = code;
  }
}

export interface S3Timeouts {
  readonly connectMs: number;
  /** Time without traffic on a connection while the server or the source is expected to act. */
  readonly silenceMs: number;
  /** The same while the bytes of an object are being read, when the reader may be the slow side. */
  readonly readerMs: number;
}

/** The bucket, as one request sees it. */
interface S3Bucket {
  readonly client: Client;
  readonly name: string;
  /** Stores an object in one request. Returns the head of the answer. */
  upload(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions): Promise<IncomingMessage>;
}

export interface S3Connection {
  /**
   * Returns the answer to one request. Throws `S3Refusal`, or `AppError("unavailable")` when the server is unreachable
   * or overloaded.
   */
  send<T>(request: S3Request, ask: (bucket: S3Bucket) => Promise<T>): Promise<T>;
  close(): void;
}

/** A request on its way: the minio client passes no signal to it, and no status back. */
interface Exchange {
  readonly signal: AbortSignal | undefined;
  status: number;
}

const signatureSeconds = 300;
/** Codes of the server's own faults and of the clock's, whatever their status: `RequestTimeout` is a 400. */
const faultCodes = ["RequestTimeout", "RequestTimeTooSkewed", "SlowDown", "InternalError", "ServiceUnavailable"];
const unreadByMinio = [408, 429, 499, 500, 502, 503, 504, 520];
const refusalBytesMax = 65_536;

/**
 * Asks a bucket through the minio client, on a transport that bounds each wait. An upload is a request of our own:
 * minio's cannot be conditional, and it repeats one whose stream is already consumed.
 */
export async function connectS3(
  location: S3Location,
  keys: { accessKey: string; secretKey: string },
  timeouts: S3Timeouts,
): Promise<S3Connection> {
  const { host, port, tls, bucket, region } = location;
  const { request, Agent } = tls ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: 64, maxFreeSockets: 16 });
  const exchanges = new AsyncLocalStorage<Exchange>();

  function open(options: RequestOptions, onResponse?: (response: IncomingMessage) => void): ClientRequest {
    const exchange = exchanges.getStore() as Exchange;
    const { signal } = exchange;
    const opened = request({ ...options, timeout: timeouts.silenceMs, signal });
    boundWaits(opened, timeouts);
    return opened.once("response", (response) => {
      exchange.status = response.statusCode ?? 0;
      if (unreadByMinio.includes(exchange.status)) response.resume();
      onResponse?.(response);
    });
  }

  // 14 MiB that only services with objects need.
  const { Client } = await import("minio");
  const client = new Client({
    ...keys,
    endPoint: host,
    port,
    useSSL: tls,
    region,
    transportAgent: agent,
    transport: { request: open as typeof http.request },
    retryOptions: { disableRetry: true }, // a retry would print to the console
  });
  const upload: S3Bucket["upload"] = (key, body, { size, contentType, ifAbsent }) => {
    const now = new Date(systemClock.nowMs());
    const signing = { location, ...keys, origin: null };
    const signed = presignPut(signing, key, { size, contentType, now, expiresInSeconds: signatureSeconds });
    const headers = { ...signed.headers, "content-length": size, ...(ifAbsent && { "if-none-match": "*" }) };
    // A stream can be sent only once, so it does not risk a kept connection that the server has just closed.
    const options = { ...urlToHttpOptions(new URL(signed.url)), method: "PUT", headers, agent: false };
    return exchangeBody(open(options), body);
  };

  return {
    async send({ method, signal }, ask) {
      const exchange: Exchange = { signal, status: 0 };
      try {
        return await exchanges.run(exchange, () => ask({ client, name: bucket, upload }));
      } catch (error) {
        if (error instanceof SourceFailure) throw error.cause;
        const { status } = exchange;
        const code = status >= 300 ? codeOf(error) : "";
        // The refusal of a HEAD has no body that could name a timeout.
        if (isFault(status) || faultCodes.includes(code) || (method === "HEAD" && status === 400))
          throw storeAway(error);
        if (error instanceof S3Refusal) throw error;
        if (status >= 300) throw new S3Refusal(status, code);
        throw isNetworkFailure(error) ? storeAway(error) : error;
      }
    },
    close: () => agent.destroy(),
  };
}

/** Sends the body and waits for the response, in whichever order they end. */
async function exchangeBody(request: ClientRequest, body: AsyncIterable<Uint8Array>): Promise<IncomingMessage> {
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve);
    request.on("error", reject);
  });
  const sending = sendBody(request, body);
  const response = await answered.catch((error: unknown) => {
    throw sending.failure() ?? error; // a broken source also shows as a broken connection
  });
  const status = response.statusCode ?? 500;
  if (status < 300) return response.resume();
  const reason = await beginningOf(response);
  request.destroy(); // a refusal may come before the body was sent
  throw new S3Refusal(status, /<Code>(\w+)<\/Code>/.exec(reason)?.[1] ?? "", { cause: new Error(reason) });
}

/** Streams the body into the request. `failure` is the reason why the source ended early, if it did. */
function sendBody(request: ClientRequest, body: AsyncIterable<Uint8Array>): { failure(): SourceFailure | undefined } {
  let failure: SourceFailure | undefined;
  const watched = async function* () {
    try {
      yield* body;
    } catch (error) {
      failure = new SourceFailure("the source of an upload failed", { cause: error });
      throw failure;
    }
  };
  pipeline(Readable.from(watched(), { objectMode: false }), request).catch((error: Error) => request.destroy(error));
  return { failure: () => failure };
}

/** Keeps a failure of the caller's stream apart from one of the store: both may be a reset connection. */
class SourceFailure extends Error {}

function boundWaits(request: ClientRequest, { connectMs, silenceMs, readerMs }: S3Timeouts): void {
  const giveUp = (milliseconds: number, what: string) => () =>
    request.destroy(Object.assign(new Error(`the object store ${what} for ${milliseconds} ms`), { code: "ETIMEDOUT" }));
  request.on("timeout", giveUp(silenceMs, "was silent"));
  request.once("response", () => request.setTimeout(readerMs));
  request.once("socket", (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(giveUp(connectMs, "did not accept a connection"), connectMs);
    socket.once("connect", () => clearTimeout(timer));
    socket.once("close", () => clearTimeout(timer));
  });
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > refusalBytesMax) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Statuses of a server that is overloaded, broken or full; not of one that does not know the request. */
const isFault = (status: number): boolean => [408, 429, 499].includes(status) || (status >= 500 && status !== 501);

const codeOf = (error: unknown): string => {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : "";
};

const networkCodes =
  /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HPE_)/;

function isNetworkFailure(error: unknown): boolean {
  const { code, errors } = error as { code?: unknown; errors?: unknown[] };
  return (typeof code === "string" && networkCodes.test(code)) || (errors ?? []).some(isNetworkFailure);
}

const triesMax = 3;
/** A server that took longer to fail is not busy for a moment, and a caller waits a few seconds at most. */
const beginWithinMs = seconds(3);
const pauseMs = 150;

/**
 * Repeats work that may be done twice when the object store was briefly busy or broken: three tries in all, with random
 * pauses so that many callers do not return together.
 */
export async function repeatBriefly<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const startedMs = systemClock.steadyMs();
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const isLate = systemClock.steadyMs() - startedMs > beginWithinMs;
      if (tries >= triesMax || isLate || signal?.aborted || !isUnavailable(error)) throw error;
      await sleep(pauseMs * tries * (0.5 + Math.random()), undefined, signal && { signal });
    }
  }
}

/** Repeats every request except an upload, whose source may be a stream that can be sent only once. */
export function withRetries(connection: S3Connection): S3Connection {
  return {
    ...connection,
    send: (request, ask) => {
      const send = () => connection.send(request, ask);
      return request.method === "PUT" ? send() : repeatBriefly(send, request.signal);
    },
  };
}
