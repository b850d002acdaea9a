import type { IncomingHttpHeaders } from "node:http";
import { guessScheme, schemeDefaults } from "@signalbox/webhook-signatures";
import type { IngestService } from "../context/ingest-service.ts";
import type { PostedWebhook } from "../judging/decode-body.ts";
import { toleranceSecondsOf } from "../judging/judge-webhook.ts";
import type { RejectionFigures } from "../rejections/rejection.ts";
import { observed } from "../sources/request-headers.ts";
import type { CachedSource } from "../sources/source-row.ts";

/** Times that a date can show. */
const secondsMax = 8_640_000_000_000;

/** Finds the figures of a refused webhook. The body is not looked at, so that this costs nothing that counts. */
export function figuresOf(
  service: IngestService,
  { method, url, headers }: PostedWebhook,
  { source, secrets, scheme }: CachedSource,
  signedSeconds: number | null,
): RejectionFigures {
  const nowMs = service.clock.nowMs();
  const toleranceSeconds = toleranceSecondsOf(service, source);
  const read = new Set<string>();
  const request = { method, url, headers: observed(headers, read), body: Buffer.alloc(0) };
  scheme.verify(request, { secrets: [secrets.current], nowSeconds: Math.floor(nowMs / 1_000), toleranceSeconds });
  const optional = { ...schemeDefaults(source.scheme), ...source.settings }.previousSignatureHeader;
  const [seen, missing] = seenAndMissing(headers, [...read].sort());
  const required = missing.filter((name) => name !== optional);
  const isWhole = seen.length > 0 && required.length === 0;
  return {
    ...timesOf(signedSeconds, nowMs),
    toleranceSeconds,
    expected: source.scheme,
    found: isWhole ? source.scheme : guessScheme(headers),
    headersSeen: seen,
    headersMissing: required,
  };
}

function timesOf(signedSeconds: number | null, nowMs: number): Pick<RejectionFigures, "signedAt" | "ageSeconds"> {
  if (signedSeconds === null || signedSeconds > secondsMax) return { signedAt: null, ageSeconds: null };
  const signedAt = new Date(signedSeconds * 1_000).toISOString();
  return { signedAt, ageSeconds: Math.round(nowMs / 1_000 - signedSeconds) };
}

function seenAndMissing(headers: IncomingHttpHeaders, names: readonly string[]): [seen: string[], missing: string[]] {
  const isSeen = (name: string) => headers[name] !== undefined && headers[name] !== "";
  return [names.filter(isSeen), names.filter((name) => !isSeen(name))];
}
