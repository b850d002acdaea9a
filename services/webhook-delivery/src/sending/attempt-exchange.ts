import type { IncomingHttpHeaders } from "node:http";
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import type { OutboundClient } from "@signalbox/net";
import type { AttemptPhase } from "../deliveries/attempt.ts";
import type { SigningEndpoint } from "./signing-endpoint.ts";

type Timing = Awaited<ReturnType<OutboundClient["request"]>>["timing"];

const headersBytesMax = 4_096;

export function maskSecretHeaders(sent: Readonly<Record<string, string>>, { settings }: SigningEndpoint) {
  const secret = new Set(settings.headers.flatMap(({ name, secret }) => (secret ? [name.toLowerCase()] : [])));
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name, secret.has(name.toLowerCase()) ? "***" : value]),
  );
}

/** Returns as many headers of an answer as fit into 4 KiB. PostgreSQL cannot store U+0000 in a text. */
export function limitHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const shown: Record<string, string> = {};
  let left = headersBytesMax;
  for (const [name, value] of Object.entries(headers)) {
    const text = [value ?? []].flat().join(", ").replaceAll("\0", "\ufffd");
    left -= name.length + Buffer.byteLength(text);
    if (left < 0) break;
    shown[name] = text;
  }
  return shown;
}

/** Returns the milliseconds of each phase. A reused connection has no resolve, connect and tls. */
export function phasesOf({ totalMs, sentAfterMs, firstByteAfterMs, opened }: Timing) {
  const making = opened === null ? 0 : opened.resolveMs + opened.connectMs + (opened.tlsMs ?? 0);
  return {
    resolve: rounded(opened?.resolveMs),
    connect: rounded(opened?.connectMs),
    tls: rounded(opened?.tlsMs),
    send: rounded(Math.max(0, sentAfterMs - making)),
    first_byte: rounded(firstByteAfterMs - sentAfterMs),
    body: rounded(totalMs - firstByteAfterMs),
  } satisfies Record<AttemptPhase, number | null>;
}

const rounded = (ms: number | null | undefined): number | null => (ms == null ? null : Math.round(ms * 10) / 10);

/** Bytes of a response that are kept for the owner, decoded. */
export const responseBytesMax = 16 * 1024;

const decoders = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
  ["zstd", createZstdDecompress],
]);

/** Returns the beginning of a response as text; null without a body. PostgreSQL cannot store U+0000 in a text. */
export async function responseText(body: Buffer, encoding: string | undefined): Promise<string | null> {
  const decoder = decoders.get((encoding ?? "").trim().toLowerCase());
  const bytes = decoder === undefined ? body : await decoded(decoder(), body);
  return bytes.length === 0 ? null : bytes.subarray(0, responseBytesMax).toString("utf8").replaceAll("\0", "�");
}

/** Decodes as far as possible: a broken or truncated body is shown up to the fault, and a bomb ends at the bound. */
function decoded(decoder: Transform, body: Buffer): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let length = 0;
  const end = () => {
    decoder.destroy();
    resolve(Buffer.concat(chunks));
  };
  decoder.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= responseBytesMax) end();
  });
  decoder.on("end", end).on("error", end);
  decoder.end(body);
  return promise;
}
