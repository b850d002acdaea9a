import { examples, timestamp } from "@signalbox/contracts";
import { accepted, createRoutes, type HttpResponse, ok, refused, refusedWith } from "@signalbox/http";
import { z } from "zod";
import type { AccountStore } from "../accounts/account-store.ts";
import { codeRefused, SentCode, tooManyCodes, tooManyTries, typedCodeField } from "../codes/code-answers.ts";
import { hintOf } from "../contacts/contact-link.ts";
import type { CompleteOutcome, RequestOutcome, StepUps } from "./step-ups.ts";

interface Dependencies {
  readonly accounts: Pick<AccountStore, "lock">;
  readonly stepUps: Pick<StepUps, "request" | "complete">;
}

const StepUpBody = z.strictObject({ code: typedCodeField.optional() });

const StepUp = z
  .object({ valid_until: timestamp.describe("Until then this token counts as freshly signed in.") })
  .meta({ id: "StepUp" })
  .register(examples, { example: { valid_until: "2026-01-01T09:15:00.000Z" } });

/** The step-up of a person whose sign-in is too old. */
export function stepUpRoutes({ accounts, stepUps }: Dependencies) {
  const routes = createRoutes({ errors: "account" });

  routes.post("/api/account/step-up/", {
    operationId: "stepUp",
    summary: "Prove again who you are, with a code sent to the contact address",
    description:
      "Without `code`, one is sent to the verified contact address. With it, this token counts as freshly signed in for 15 minutes, in every service. For tokens of people. At most five codes and 25 tries an hour for all tokens of an account.",
    // Any sensitive change may need it, so it requires no scope.
    auth: { scopes: [], access: "own-account:write" },
    audit: "account.step_up",
    body: StepUpBody,
    responses: { 200: StepUp, 202: SentCode, 403: "error", 404: "error", 409: "error" },
    idempotent: true,
    write: {
      find: (tx, { caller }) => accounts.lock(tx, caller.accountId),
      change: (tx, account, { caller, body: { code } }): Promise<RequestOutcome | CompleteOutcome> =>
        code === undefined ? stepUps.request(tx, caller, account) : stepUps.complete(tx, caller, account, code),
      answer: answerOf,
    },
  });

  return routes;
}

function answerOf(result: RequestOutcome | CompleteOutcome): HttpResponse {
  switch (result.outcome) {
    case "sent":
      return accepted({ sent_to: hintOf(result.address), expires_at: result.expiresAt.toISOString() });
    case "completed":
      return ok({ valid_until: result.validUntil.toISOString() });
    case "no-address":
      return refused(409, "conflict", {
        message: "The account has no verified contact address. Sign in again instead.",
      });
    case "too-many":
      throw tooManyCodes();
    case "too-many-tries":
      throw tooManyTries();
    case "not-a-person":
      return notAPerson();
    default:
      return refusedWith(codeRefused(result.outcome));
  }
}

function notAPerson(): HttpResponse {
  const message = "A code can raise only the access token of a person.";
  return refused(403, "forbidden", { message, details: [{ field: "authorization", code: "not_a_person", message }] });
}
