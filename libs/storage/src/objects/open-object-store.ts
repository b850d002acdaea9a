import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable, systemClock } from "@signalbox/core";
import type { Logger, Metrics, ShutdownHooks, Tracer } from "@signalbox/runtime";
import { openFileStore } from "./file-store.ts";
import type { ObjectStore } from "./object-store.ts";
import { presignPut } from "./presign-put.ts";
import { connectS3, type S3Connection, S3Refusal, type S3Timeouts, withRetries } from "./s3-connection.ts";
import { parseS3Url, type S3Location } from "./s3-location.ts";
import { createS3Store } from "./s3-store.ts";

interface ObjectStoreOptions {
  /** `file:<folder>`, or `s3://host:port/bucket?region=…` (`s3+http://` or `tls=false` without TLS). */
  readonly url: string;
  readonly accessKey: string | null;
  readonly secretKey: string | null;
  readonly runner: ShutdownHooks;
  readonly log: Logger;
  /** Traces each request. */
  readonly tracer?: Tracer;
  readonly metrics?: Metrics;
  readonly timeouts?: S3Timeouts;
  /** Time to wait for an unreachable server, and to verify access to the bucket; absent for neither. */
  readonly startWaitMs?: number;
  /**
   * Public address of the S3 server for clients, such as `https://files.example.com`; absent or null for the address of
   * `url`.
   */
  readonly publicOrigin?: string | null;
}

const usualTimeouts: S3Timeouts = { connectMs: 3_000, silenceMs: 20_000, readerMs: 120_000 };

/**
 * Opens the object store of the URL. The bucket must exist. A later outage of an S3 server shows at its use, and in
 * `health`. A folder that cannot be created throws `AppError("unavailable")`.
 */
export async function openObjectStore({
  url,
  runner,
  log,
  tracer,
  metrics,
  ...options
}: ObjectStoreOptions): Promise<ObjectStore> {
  log.debug({ url }, "opening the object store");
  if (url.startsWith("file:")) return openFileStore(folderOf(url), systemClock.nowMs());
  const { accessKey, secretKey, timeouts = usualTimeouts, startWaitMs, publicOrigin: origin = null } = options;
  if (!accessKey || !secretKey)
    throw new Error("blobs.url names an S3 server: blobs.access-key and blobs.secret-key are missing");
  const location = parseS3Url(url);
  const connection = await connectS3(location, { accessKey, secretKey }, timeouts);
  runner.defer("object store", async () => connection.close());
  if (startWaitMs !== undefined) await awaitBucket(connection, location, { waitMs: startWaitMs, log });
  const measured = withRetries(metrics ? withMetrics(connection, metrics) : connection);
  const signing = { location, accessKey, secretKey, origin };
  return createS3Store(tracer ? withSpans(measured, tracer) : measured, (key, put) => presignPut(signing, key, put));
}

/** Measures the server's response times and failures, those of repeated requests too. */
function withMetrics(connection: S3Connection, metrics: Metrics): S3Connection {
  const duration = metrics.histogram("signalbox_blob_seconds");
  return {
    ...connection,
    async send(request, ask) {
      const startedMs = systemClock.steadyMs();
      const observe = (outcome: string) =>
        duration.observe({ method: request.method, outcome }, (systemClock.steadyMs() - startedMs) / 1000);
      try {
        const answer = await connection.send(request, ask);
        observe("answered");
        return answer;
      } catch (error) {
        observe(isUnavailable(error) ? "away" : "refused");
        throw error;
      }
    },
  };
}

/** Traces each request that belongs to a trace. Health checks belong to none. */
function withSpans(connection: S3Connection, tracer: Tracer): S3Connection {
  return {
    ...connection,
    send: (request, ask) => {
      if (tracer.traceparent() === undefined) return connection.send(request, ask);
      const attributes = { "http.request.method": request.method, "aws.s3.key": request.key };
      return tracer.span(`S3 ${request.method}`, { kind: "client", attributes }, () => connection.send(request, ask));
    },
  };
}

/** `file:relative/folder` and `file:///absolute/folder`. */
const folderOf = (url: string): string => resolve(decodeURIComponent(url.replace(/^file:(\/\/(?=\/))?/, "")));

const pauseMs = 500;
const pausesBetweenLines = 10;

/**
 * Waits until the bucket answers. An unreachable server, a missing bucket or refused keys end the start with the
 * property to correct: otherwise every request would fail.
 */
async function awaitBucket(
  connection: S3Connection,
  { host, port, bucket }: S3Location,
  { waitMs, log }: { readonly waitMs: number; readonly log: Logger },
): Promise<void> {
  const where = `the object store at ${host}:${port}`;
  const pauses = Math.ceil(waitMs / pauseMs);
  for (let pause = 0; ; pause++) {
    try {
      // A listing, because the refusal of a HEAD has no body that could give the reason.
      await connection.send({ method: "GET" }, ({ client, name }) =>
        client.listObjectsV2Query(name, "", "", "", 1, ""),
      );
      return;
    } catch (error) {
      if (error instanceof S3Refusal) throw new Error(`${where} ${reasonOf(error, bucket)}`, { cause: error });
      if (!isUnavailable(error)) throw error;
      const reason = ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message;
      if (pause >= pauses) {
        const message = `${where} did not answer within ${waitMs / 1000} s (${reason})`;
        throw new Error(`${message}: start it, or correct blobs.url`, { cause: error });
      }
      if (pause % pausesBetweenLines === 0) log.warn({ reason }, `waiting for ${where}`);
      await sleep(pauseMs);
    }
  }
}

function reasonOf({ status, code }: S3Refusal, bucket: string): string {
  switch (code) {
    case "NoSuchBucket":
      return `has no bucket ${bucket}: create it, or correct blobs.url`;
    case "InvalidAccessKeyId":
      return "does not know blobs.access-key: correct it";
    case "SignatureDoesNotMatch":
      return "refuses blobs.secret-key: correct it";
    default:
      return `denied access (${status} ${code}): blobs.access-key may not list the bucket ${bucket}`;
  }
}
