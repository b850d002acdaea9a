import { examples, timestamp } from "@signalbox/contracts";
import { AppError, type DetailCode } from "@signalbox/core";
import type { Refusal } from "@signalbox/http";
import { z } from "zod";
import type { Actor, Refusal as RefusalEntry } from "../audit/audit.ts";
import type { RedeemOutcome } from "./one-time-codes.ts";

/** A code as a person typed it. Any form is accepted as a try; only the right code succeeds. */
export const typedCodeField = z
  .string()
  .min(1)
  .max(32)
  .meta({ description: "The code from the mail, with or without spaces.", examples: ["8330 8925"] });

/** The answer to a request for a code. */
export const SentCode = z
  .object({
    sent_to: z.string().describe("The address that the code was sent to, abbreviated."),
    expires_at: timestamp.describe("When the code expires."),
  })
  .meta({ id: "SentCode" })
  .register(examples, { example: { sent_to: "a…@example.org", expires_at: "2026-01-01T10:00:00.000Z" } });

const messages: Readonly<Record<Exclude<RedeemOutcome, "good">, string>> = {
  wrong: "The code is wrong.",
  expired: "The code has expired. Request a new one.",
  "used-up": "The code can no longer be used. Request a new one.",
};

/** The answer to a refused code. */
export function codeRefused(outcome: keyof typeof messages): Refusal {
  const message = messages[outcome];
  return { code: "validation_error", message, details: [{ field: "code", code: reasonOf(outcome), message }] };
}

/** The audit entry of a refused code, on the account that it was tried on. */
export function codeRefusal(
  operation: string,
  accountId: string,
  outcome: keyof typeof messages,
  by: Actor,
): RefusalEntry {
  return { accountId, operation, reason: reasonOf(outcome), fields: ["code"], by };
}

const reasons = { wrong: "wrong_code", expired: "code_expired", "used-up": "code_used_up" } as const;

const reasonOf = (outcome: keyof typeof messages): DetailCode => reasons[outcome];

/** The error after too many tries within the hour, when even the right code is refused. */
export const tooManyTries = () =>
  new AppError("rate_limited", "Too many codes were tried. Try again in an hour.", { retryAfterSeconds: 3600 });

/** The error after five codes within the hour, since the oldest of them is at most an hour old. */
export const tooManyCodes = (field?: string) =>
  new AppError("rate_limited", "Too many codes were requested. Try again in an hour.", {
    field,
    retryAfterSeconds: 3600,
  });
