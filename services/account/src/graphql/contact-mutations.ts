import { AppError } from "@signalbox/core";
import { mutationPayload } from "@signalbox/graphql";
import { actorOf } from "../audit/actor.ts";
import { codeDetail } from "../codes/code-refused.ts";
import { tooManyCodes } from "../codes/too-many-codes.ts";
import { hintOf } from "../contacts/contact-link.ts";
import { Confirmation } from "../contacts/contact-routes.ts";
import type { Verbs } from "../verbs.ts";
import { type AccountContext, allowed, missing } from "./account-resolvers.ts";
import { invalidInput, parseInput } from "./parse-input.ts";

const mayEdit = (context: AccountContext) => allowed(context, "account:write", "own-account:write");

/** What becomes of a new contact address that waits to be confirmed. */
export function contactMutations({ confirmContact, resendContactCode, cancelContactChange }: Verbs) {
  return {
    Mutation: {
      confirmContactAddress: (_parent: unknown, { input }: { input: object }, context: AccountContext) => {
        const principal = mayEdit(context);
        return mutationPayload("account", async () => {
          const { code } = parseInput(Confirmation, input);
          const result = await confirmContact({ principal, code, by: actorOf({ ...context, principal }) });
          switch (result.outcome) {
            case "confirmed":
              return result.account;
            case "nothing-waiting":
              throw nothingWaiting();
            case "not-found":
              return missing();
            default:
              throw invalidInput([codeDetail(result.outcome)]);
          }
        });
      },
      resendContactCode: (_parent: unknown, _given: unknown, context: AccountContext) => {
        const principal = mayEdit(context);
        return mutationPayload("sentCode", async () => {
          const result = await resendContactCode({ principal });
          switch (result.outcome) {
            case "sent":
              return { sentTo: hintOf(result.sent.address), expiresAt: result.sent.expiresAt };
            case "too-many":
              throw tooManyCodes();
            case "nothing-waiting":
              throw nothingWaiting();
            case "not-found":
              return missing();
          }
        });
      },
      cancelContactChange: (_parent: unknown, _given: unknown, context: AccountContext) => {
        const principal = mayEdit(context);
        return mutationPayload("account", async () => {
          const result = await cancelContactChange({ principal, by: actorOf({ ...context, principal }) });
          return result.outcome === "not-found" ? missing() : result.account;
        });
      },
    },
  };
}

const nothingWaiting = () => new AppError("conflict", "No contact address waits to be confirmed.");
