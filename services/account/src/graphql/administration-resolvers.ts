import { AppError } from "@signalbox/core";
import { type ConnectionArguments, mutationPayload } from "@signalbox/graphql";
import { cursorByTime, readTimeCursor } from "@signalbox/http";
import { z } from "zod";
import type { Account } from "../accounts/account.ts";
import { accountFilter, filterFrom } from "../administration/account-filter.ts";
import { actorOf } from "../audit/actor.ts";
import { StatusByAdministrator } from "../statuses/status-body.ts";
import type { Verbs } from "../verbs.ts";
import { type AccountContext, allowed } from "./account-resolvers.ts";
import { pageOf } from "./page-of.ts";
import { parseInput } from "./parse-input.ts";

interface AccountsArguments extends ConnectionArguments {
  readonly search?: string | null;
  readonly status?: string | null;
  readonly recoveryRequested?: boolean | null;
  readonly createdAfter?: Date | null;
  readonly createdBefore?: Date | null;
}

const Filter = z.strictObject({ ...accountFilter, recovery_requested: z.boolean().optional() });
const StatusInput = StatusByAdministrator.extend({ account_id: z.string() });

/** What administrators may see of any account, and do to it. */
export function administrationResolvers({ accountSearch, changeAccountStatus, pageLimits }: Verbs) {
  return {
    Query: {
      account: (_parent: unknown, { id }: { id: string }, context: AccountContext) => {
        allowed(context, "account:admin", "read");
        return context.loaders.account(id);
      },
      accounts: (_parent: unknown, given: AccountsArguments, context: AccountContext) => {
        allowed(context, "account:admin", "read");
        const { first: _first, after: _after, ...narrowing } = given;
        // An argument that is null narrows no more than one that is absent.
        const wanted = Object.fromEntries(Object.entries(narrowing).filter(([, value]) => value !== null));
        const filter = filterFrom(parseInput(Filter, wanted));
        return pageOf<Account>(given, pageLimits, {
          cursorOf: cursorByTime,
          read: (limit, cursor) =>
            accountSearch.list(filter, { after: cursor === null ? null : readTimeCursor(cursor), limit }),
        });
      },
    },
    Mutation: {
      setAccountStatus: (_parent: unknown, { input }: { input: object }, context: AccountContext) => {
        const principal = allowed(context, "account:admin", "write");
        return mutationPayload("account", async () => {
          const { account_id: accountId, status, reason } = parseInput(StatusInput, input);
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
    Account: {
      administration: (account: Account, _given: unknown, context: AccountContext) => {
        allowed(context, "account:admin", "read");
        const { statusChangedAt, statusActor, statusReason, recoveryRequestedAt, purgedAt } = account;
        return { statusChangedAt, statusChangedBy: statusActor, statusReason, recoveryRequestedAt, purgedAt };
      },
    },
  };
}
