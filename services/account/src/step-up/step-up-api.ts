import { examples, timestamp } from "@signalbox/contracts";
import { ok, type Refusal } from "@signalbox/http";
import { type Edges, edgesOf, operation } from "@signalbox/service";
import { z } from "zod";
import { codeRefusals, codeSent, SentCode, tooManyCodes, tooManyTries, typedCodeField } from "../codes/code-answers.ts";
import type { AccountService } from "../context/account-service.ts";
import { accountOfPerson } from "../profile/account-api.ts";
import { completeStepUp, requestStepUp } from "./step-ups.ts";

const StepUpBody = z.strictObject({ code: typedCodeField.optional() });

const StepUp = z
  .object({ valid_until: timestamp.describe("Time until which this token counts as freshly signed in.") })
  .meta({ id: "StepUp" })
  .register(examples, { example: { valid_until: "2026-01-01T09:15:00.000Z" } });

const personOnly = "Only a person's access token can be stepped up with a code.";

/** The refusal of a credential behind which nobody stands. */
export const notAPerson: Refusal = {
  code: "forbidden",
  message: personOnly,
  details: [{ field: "authorization", code: "not_a_person", message: personOnly }],
};
const withPasskey = "A mailed code does not confirm changes to this account. Sign in again with a passkey.";

const refusals: Readonly<Record<"no-address" | "not-a-person" | "passkey-needed", Refusal>> = {
  "no-address": {
    code: "conflict",
    message: "The account has no verified contact address. Sign in again instead.",
  },
  "not-a-person": notAPerson,
  "passkey-needed": {
    code: "forbidden",
    message: withPasskey,
    details: [{ field: "authorization", code: "passkey_required", message: withPasskey }],
  },
};

/** The step-up of a person whose sign-in is too old, over REST alone: it belongs to the token, not to the graph. */
export function stepUpApi(service: AccountService): Edges {
  const stepUp = operation({
    summary: "Confirm your identity with a code sent to the contact address",
    description:
      "Without `code`, one is sent to the verified contact address. With it, this token counts as freshly signed in for 15 minutes, in every service. Requires a person's token. At most five codes and 25 tries an hour for all tokens of an account.",
    // Any sensitive change may need it, so it requires no scope.
    auth: { scopes: [], access: "own-account:write" },
    audit: "account.step_up",
    input: StepUpBody,
    of: accountOfPerson(service),
    change: async (tx, account, { caller, input: { code } }) =>
      code === undefined
        ? requestStepUp(service, tx, caller, account)
        : completeStepUp(service, tx, caller, account, code),
    refusals: { ...codeRefusals, ...refusals, "too-many": tooManyCodes, "too-many-tries": tooManyTries },
    rest: {
      post: "/api/account/step-up/",
      responses: { 200: StepUp, 202: SentCode },
      idempotent: true,
      answer: (done) => (done.outcome === "sent" ? codeSent(done) : ok({ valid_until: done.validUntil.toISOString() })),
    },
  });
  return edgesOf({ stepUp }, { errors: "account" });
}
