import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { S3Location } from "./s3-location.ts";
import { storeAway } from "./store-away.ts";

interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** Absent for the bucket itself. */
  readonly key?: string;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly body?: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal | undefined;
}

/** A refusal of the S3 server. `code` is its error code, such as `NoSuchBucket`. */
export class S3Refusal extends Error {
  override readonly name = "S3Refusal";
  readonly status: number;
  readonly code: string;
  readonly headers: http.IncomingHttpHeaders;

  constructor(response: IncomingMessage, body: string) {
    const code = /<Code>([^<]*)</.exec(body)?.[1] ?? "";
    super(`the object store answered ${response.statusCode} ${code}`.trim());
    this.status = response.statusCode ?? 0;
    this.code = code;
    this.headers = response.headers;
  }
}

export interface S3Timeouts {
  readonly connectMs: number;
  /** Time without traffic on a connection while the server or the source is expected to act. */
  readonly silenceMs: number;
  /** The same while the bytes of an object are being read, when the reader may be the slow side. */
  readonly readerMs: number;
}

export interface S3Connection {
  /**
   * Returns the response of a success. Throws `S3Refusal`, or `AppError("unavailable")` when the server is unreachable
   * or overloaded.
   */
  send(request: S3Request): Promise<IncomingMessage>;
  close(): void;
}

const signatureSeconds = 300;
const busyStatuses = [408, 429, 500, 502, 503, 504];

/**
 * Sends signed requests to a bucket. The minio client makes the signatures; the request is ours, because minio's own
 * repeats an upload whose stream is already consumed, waits without bound, prints to the console, and cannot write
 * conditionally.
 */
export async function connectS3(
  { host, port, tls, bucket, region }: S3Location,
  keys: { accessKey: string; secretKey: string },
  timeouts: S3Timeouts,
): Promise<S3Connection> {
  // 14 MiB that only services with objects need.
  const { Client } = await import("minio");
  const signer = new Client({ endPoint: host, port, useSSL: tls, pathStyle: true, region, ...keys });
  const transport = tls ? https : http;
  const agent = new transport.Agent({ keepAlive: true, maxSockets: 64, maxFreeSockets: 16 });

  const attempt = async ({ method, key = "", query = {}, headers = {}, body, signal }: S3Request) => {
    const url = await signer.presignedUrl(method, bucket, key, signatureSeconds, query);
    // A stream can be sent only once, so it does not risk a kept connection that the server has just closed.
    const connection = { agent: body ? false : agent, timeout: timeouts.silenceMs };
    const request = transport.request(url, { method, headers, ...connection, ...(signal && { signal }) });
    boundWaits(request, timeouts);
    return await exchange(request, body);
  };

  return {
    async send(request) {
      try {
        return await retryOnce(() => attempt(request), request.body === undefined);
      } catch (error) {
        if (error instanceof SourceFailure) throw error.cause;
        if (error instanceof S3Refusal && busyStatuses.includes(error.status)) throw storeAway(error);
        throw isNetworkFailure(error) ? storeAway(error) : error;
      }
    },
    close: () => agent.destroy(),
  };
}

/** Sends the body and waits for the response, in whichever order they end. */
async function exchange(request: ClientRequest, body: AsyncIterable<Uint8Array> | undefined): Promise<IncomingMessage> {
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve);
    request.on("error", reject);
  });
  const sending = body ? sendBody(request, body) : undefined;
  if (!sending) request.end();
  const response = await answered.catch((error: unknown) => {
    throw sending?.failure() ?? error; // a broken source also shows as a broken connection
  });
  if ((response.statusCode ?? 500) < 300) return response;
  const refusal = new S3Refusal(response, await text(response));
  request.destroy(); // a refusal may come before the body was sent
  throw refusal;
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

/** The server may close a kept connection at the moment of its use: one more try on another. */
async function retryOnce<T>(work: () => Promise<T>, repeatable: boolean): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (!repeatable || (code !== "ECONNRESET" && code !== "EPIPE")) throw error;
    return await work();
  }
}

const networkCodes =
  /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HPE_)/;

function isNetworkFailure(error: unknown): boolean {
  const { code, errors } = error as { code?: unknown; errors?: unknown[] };
  return (typeof code === "string" && networkCodes.test(code)) || (errors ?? []).some(isNetworkFailure);
}
