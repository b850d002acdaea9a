import type { IncomingHttpHeaders } from "node:http";
import { seconds } from "@signalbox/core";
import { isOutboundError, type OutboundClient, shownFailure } from "@signalbox/net";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import type { SenderName } from "../sources/sender-key.ts";
import type { SenderAnswer } from "./sender-history.ts";

interface SenderRequest extends Omit<Parameters<OutboundClient["request"]>[0], "deadlineMs" | "requireHttps"> {
  readonly sender: SenderName;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Well within the lease of a step. */
const deadlineMs = seconds(8);
/** For a limit whose end the sender does not name. GitHub asks for at least a minute. */
const pauseMs = seconds(60);
/** A sender cannot stop us for longer with one answer. */
const pauseMsMax = seconds(2 * 3_600);

/** Calls a sender's API. A redirect is not followed: it would carry the key to another host. */
export async function requestSender(service: IngestService, { sender, ...wanted }: SenderRequest) {
  const { outbound, clock, metrics } = service;
  const answer = await outbound
    .request({ ...wanted, deadlineMs, requireHttps: true })
    .then(({ status, headers, body }) => judgeAnswer({ status, headers, text: body.toString("utf8") }, clock.nowMs()))
    .catch((error: unknown): SenderAnswer<ApiAnswer> => {
      if (!isOutboundError(error)) throw error;
      return { outcome: "away", reason: shownFailure(error).stage.replaceAll("-", "_") };
    });
  metrics.counter("signalbox_webhook_sender_requests_total").inc({ sender, outcome: answer.outcome });
  return answer;
}

function judgeAnswer(answer: ApiAnswer, nowMs: number): SenderAnswer<ApiAnswer> {
  const { status } = answer;
  const pause = pauseOf(answer, nowMs);
  if (status >= 200 && status < 300) return { outcome: "answered", value: answer, waitUntil: pause };
  if (pause !== null && (status === 429 || status === 403)) return { outcome: "limited", until: pause };
  if (status === 401) return { outcome: "refused", reason: "unauthorized" };
  if (status === 403) return { outcome: "refused", reason: "forbidden" };
  if (status === 404 || status === 410) return { outcome: "refused", reason: "not_found" };
  return { outcome: "away", reason: `answered_${status}` };
}

function pauseOf({ status, headers, text }: ApiAnswer, nowMs: number): Date | null {
  const until = (ms: number) => new Date(Math.min(Math.max(ms, nowMs), nowMs + pauseMsMax));
  const isSpent = headers["x-ratelimit-remaining"] === "0";
  const after = Number(headers["retry-after"]);
  const isLimited = status === 429 || (status === 403 && (isSpent || after > 0 || /rate limit/i.test(text)));
  if (isLimited && after > 0) return until(nowMs + seconds(after));
  const resetMs = seconds(Number(headers["x-ratelimit-reset"]));
  if (isSpent && resetMs > 0) return until(resetMs);
  return isLimited ? new Date(nowMs + pauseMs) : null;
}

/** A number that a double would change, as its sender wrote it; `JSON.stringify` writes it so again. */
interface RawNumber {
  readonly rawJSON: string;
}
/** Members of JavaScript that TypeScript does not declare yet. */
const rawJson = JSON as unknown as {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
  parse(
    text: string,
    revive: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
};

/** Ids of senders are text: a number is read digit for digit. */
export const numberText = z.unknown().transform((value, { addIssue }) => {
  if (rawJson.isRawJSON(value)) return value.rawJSON;
  if (typeof value === "number" || typeof value === "string") return String(value);
  addIssue({ code: "custom", message: "The id must be a number." });
  return z.NEVER;
});

export const parseExactly = (text: string): unknown =>
  rawJson.parse(text, (_, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source ? rawJson.rawJSON(source) : value,
  );

/** Parses the JSON of an answer, or reports the sender as away. */
export function parsed<Value>(
  answer: SenderAnswer<ApiAnswer>,
  read: (json: unknown, answer: ApiAnswer) => Value,
): SenderAnswer<Value> {
  if (answer.outcome !== "answered") return answer;
  try {
    return { ...answer, value: read(parseExactly(answer.value.text), answer.value) };
  } catch {
    return { outcome: "away", reason: "answer_unreadable" };
  }
}
