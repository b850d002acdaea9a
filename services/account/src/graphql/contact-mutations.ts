import { mutation, refusalError } from "@signalbox/graphql";
import { z } from "zod";
import type { Accounts } from "../accounts/accounts.ts";
import { tooManyCodes } from "../codes/code-answers.ts";
import type { ContactChanges } from "../contacts/contact-changes.ts";
import { hintOf } from "../contacts/contact-link.ts";
import { Confirmation, confirmationRefused, nothingPending, resendAudit } from "../contacts/contact-routes.ts";
import { writeOwnAccount } from "./account-resolvers.ts";

interface ContactMutationDependencies {
  readonly accounts: Pick<Accounts, "lock">;
  readonly contactChanges: Pick<ContactChanges, "confirm" | "resend" | "cancel">;
}

const access = { scopes: ["account:write"], access: "own-account:write" } as const;
const nothing = z.strictObject({});

/** The mutations of a pending contact change. */
export function contactMutations({ accounts, contactChanges }: ContactMutationDependencies) {
  return {
    Mutation: {
      confirmContactAddress: mutation(
        { ...access, audit: ["account.contact_confirm", "account.activate"], input: Confirmation, payload: "account" },
        async ({ code }, context) => {
          const result = await writeOwnAccount(context, accounts, (tx, account) =>
            contactChanges.confirm(tx, context.caller, account, code),
          );
          if (result.outcome === "confirmed") return result.account;
          throw refusalError(confirmationRefused(result.outcome));
        },
      ),
      resendContactCode: mutation(
        { ...access, audit: resendAudit, input: nothing, payload: "sentCode" },
        async (_input, context) => {
          const result = await writeOwnAccount(context, accounts, contactChanges.resend);
          switch (result.outcome) {
            case "sent":
              return { sentTo: hintOf(result.address), expiresAt: result.expiresAt };
            case "too-many":
              throw tooManyCodes();
            case "nothing-pending":
              throw refusalError(nothingPending);
          }
        },
      ),
      cancelContactChange: mutation(
        { ...access, audit: "account.contact_cancel", input: nothing, payload: "account" },
        (_input, context) =>
          writeOwnAccount(context, accounts, (tx, account) => contactChanges.cancel(tx, context.caller, account)),
      ),
    },
  };
}
