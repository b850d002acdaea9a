import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";
import { type S3Connection, S3Refusal } from "./s3-connection.ts";
import type { S3Location } from "./s3-location.ts";

const pauseMs = 500;
const pausesBetweenLines = 10;

/**
 * Waits until the bucket answers. An unreachable server, a missing bucket or refused keys end the start with the
 * property to correct: otherwise every request would fail.
 */
export async function awaitBucket(
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
      return `refuses us (${status} ${code}): blobs.access-key may not list the bucket ${bucket}`;
  }
}
