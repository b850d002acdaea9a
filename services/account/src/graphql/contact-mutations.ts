import type { Caller } from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import { mutationPayload } from "@signalbox/graphql";
import { inTransaction, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { codeDetail, tooManyCodes } from "../codes/code-answers.ts";
import { hintOf } from "../contacts/contact-link.ts";
import { Confirmation } from "../contacts/contact-routes.ts";
import type { Verbs } from "../verbs.ts";
import { type AccountContext, allowed, missing } from "./account-resolvers.ts";
import { invalidInput, parseInput } from "./parse-input.ts";

const callerOf = (context: AccountContext): Caller => ({
  ...allowed(context, "account:write", "own-account:write"),
  requestId: context.requestId,
  clientAddress: context.clientAddress,
});

/** The change of a contact address that is pending. */
export function contactMutations({ pool, accounts, contactChanges }: Verbs) {
  const write = <Result>({ accountId }: Caller, change: (tx: Tx, account: Account) => Promise<Result>) =>
    inTransaction(pool, async (tx) => {
      const account = await accounts.lock(tx, accountId);
      return account ? change(tx, account) : missing();
    });

  return {
    Mutation: {
      confirmContactAddress: (_parent: unknown, { input }: { input: object }, context: AccountContext) => {
        const caller = callerOf(context);
        return mutationPayload("account", async () => {
          const { code } = parseInput(Confirmation, input);
          const result = await write(caller, (tx, account) => contactChanges.confirm(tx, caller, account, code));
          switch (result.outcome) {
            case "confirmed":
              return result.account;
            case "nothing-pending":
              throw nothingPending();
            default:
              throw invalidInput([codeDetail(result.outcome)]);
          }
        });
      },
      resendContactCode: (_parent: unknown, _given: unknown, context: AccountContext) => {
        const caller = callerOf(context);
        return mutationPayload("sentCode", async () => {
          const result = await write(caller, (tx, account) => contactChanges.resend(tx, account));
          switch (result.outcome) {
            case "sent":
              return { sentTo: hintOf(result.address), expiresAt: result.expiresAt };
            case "too-many":
              throw tooManyCodes();
            case "nothing-pending":
              throw nothingPending();
          }
        });
      },
      cancelContactChange: (_parent: unknown, _given: unknown, context: AccountContext) => {
        const caller = callerOf(context);
        return mutationPayload("account", () =>
          write(caller, (tx, account) => contactChanges.cancel(tx, caller, account)),
        );
      },
    },
  };
}

const nothingPending = () => new AppError("conflict", "No contact address is pending.");
