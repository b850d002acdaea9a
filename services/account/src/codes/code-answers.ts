import { examples, timestamp } from "@signalbox/contracts";
import type { DetailCode } from "@signalbox/core";
import { accepted, type HttpResponse, type Refusal } from "@signalbox/http";
import { z } from "zod";
import type { Actor, Refusal as RefusalEntry } from "../audit/audit-log.ts";
import type { RedeemOutcome } from "./one-time-codes.ts";

/** The outcomes of a code that is not good. */
export type RefusedCode = Exclude<RedeemOutcome, "good">;

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
  .meta({ id: "SentCode", description: "A code that was sent." })
  .register(examples, { example: { sent_to: "a…@example.org", expires_at: "2026-01-01T10:00:00.000Z" } });

/** A mailed code, as an operation reports it. */
export interface SentTo {
  readonly address: string;
  readonly expiresAt: Date;
}

export const codeSent = ({ address, expiresAt }: SentTo): HttpResponse =>
  accepted({ sent_to: hintOf(address), expires_at: expiresAt.toISOString() });

/** Shortens an address so that its holder recognises it, and no other reader can write to it. */
export function hintOf(address: string): string {
  const at = address.lastIndexOf("@");
  return `${[...address][0]}…${address.slice(at)}`;
}

const reasons: Readonly<Record<RefusedCode, DetailCode>> = {
  wrong: "wrong_code",
  expired: "code_expired",
  "used-up": "code_used_up",
};

/** The refusals of an operation that redeems a code. */
export const codeRefusals: Readonly<Record<RefusedCode, Refusal>> = {
  wrong: codeRefused("wrong", "The code is wrong."),
  expired: codeRefused("expired", "The code has expired. Request a new one."),
  "used-up": codeRefused("used-up", "The code can no longer be used. Request a new one."),
};

function codeRefused(outcome: RefusedCode, message: string): Refusal {
  return { code: "validation_error", message, details: [{ field: "code", code: reasons[outcome], message }] };
}

/** The audit entry of a refused code, on the account that it was tried on. */
export function codeRefusal(operation: string, accountId: string, outcome: RefusedCode, by: Actor): RefusalEntry {
  return { accountId, operation, reason: reasons[outcome], fields: ["code"], by };
}

const limited = (message: string): Refusal => ({ code: "rate_limited", message, retryAfterSeconds: 3600 });

/** The refusal after too many tries within the hour, when even the right code is refused. */
export const tooManyTries = limited("Too many codes were tried. Try again in an hour.");

/** The refusal after five codes within the hour, since the oldest of them is at most an hour old. */
export const tooManyCodes = limited("Too many codes were requested. Try again in an hour.");
