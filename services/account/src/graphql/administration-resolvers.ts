import { AppError } from "@signalbox/core";
import { mutationPayload } from "@signalbox/graphql";
import { actorOf } from "../audit/actor.ts";
import type { Verbs } from "../service.ts";
import { StatusByAdministrator } from "../statuses/status-body.ts";
import { type AccountContext, allowed } from "./account-resolvers.ts";
import { parseInput } from "./parse-input.ts";

interface SetAccountStatusInput {
  readonly accountId: string;
  readonly status: string;
  readonly reason: string;
}

/** What administrators may do to any account. */
export function administrationResolvers({ changeAccountStatus }: Verbs) {
  return {
    Mutation: {
      setAccountStatus: (_parent: unknown, { input }: { input: SetAccountStatusInput }, context: AccountContext) => {
        const principal = allowed(context, "account:admin", "write");
        return mutationPayload("account", async () => {
          const { accountId, ...body } = input;
          const { status, reason } = parseInput(StatusByAdministrator, { ...body });
          const by = actorOf({ ...context, principal }, "administrator");
          const result = await changeAccountStatus({ accountId, to: status, reason, principal, by });
          switch (result.outcome) {
            case "changed":
              return result.account;
            case "no-such-transition":
              throw new AppError("conflict", `The account is ${result.from}; that does not lead to ${status}.`);
            case "not-found":
              throw new AppError("not_found", "There is no such account.");
          }
        });
      },
    },
  };
}
