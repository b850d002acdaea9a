import type { ErrorDetail } from "@signalbox/core";
import { type HttpResponse, refused } from "@signalbox/http";
import { z } from "zod";
import type { Actor, Refusal } from "../audit/audit.ts";
import type { RedeemOutcome } from "./one-time-codes.ts";

/** A code as somebody typed it. One of any form may be tried; only the right one is good. */
export const typedCodeField = z.string().min(1).max(32).describe("The code from the mail, with or without blanks.");

const messages: Readonly<Record<Exclude<RedeemOutcome, "good">, string>> = {
  wrong: "This is not the code.",
  expired: "The code has expired. Ask for another one.",
  "used-up": "The code cannot be used any more. Ask for another one.",
};

/** Why a code was not taken, as a detail of an answer. */
export function codeDetail(outcome: keyof typeof messages): ErrorDetail {
  const code = outcome === "wrong" ? "wrong_code" : `code_${outcome.replace("-", "_")}`;
  return { field: "code", code, message: messages[outcome] };
}

/** A code that was not taken, as the audit of the account that it was tried on has it. */
export function codeRefusal(operation: string, accountId: string, outcome: keyof typeof messages, by: Actor): Refusal {
  return { accountId, operation, reason: codeDetail(outcome).code, fields: ["code"], by };
}

/** The answer to a code that was not taken. */
export function codeRefused(outcome: keyof typeof messages): HttpResponse {
  return refused(422, "validation_error", { message: messages[outcome], details: [codeDetail(outcome)] });
}
