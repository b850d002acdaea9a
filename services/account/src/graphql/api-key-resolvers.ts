import type { ConnectionArguments } from "@signalbox/graphql";
import { cursorByTime, readTimeCursor } from "@signalbox/http";
import type { Account } from "../accounts/account.ts";
import { type ApiKey, statusOf } from "../api-keys/api-key.ts";
import type { Verbs } from "../verbs.ts";
import { type AccountContext, allowed } from "./account-resolvers.ts";
import { pageOf } from "./page-of.ts";

export function apiKeyResolvers({ apiKeys, clock, pageLimits }: Verbs) {
  return {
    Account: {
      apiKeys: (account: Pick<Account, "id">, given: ConnectionArguments, context: AccountContext) => {
        const { accountId } = allowed(context, "account:read", "own-account:read");
        return pageOf<ApiKey>(given, pageLimits, {
          cursorOf: cursorByTime,
          async read(limit, cursor) {
            const after = cursor === null ? null : readTimeCursor(cursor);
            return account.id === accountId ? apiKeys.list(accountId, { after, limit }) : [];
          },
        });
      },
    },
    ApiKey: {
      __resolveReference: ({ id }: { id: string }, _given: unknown, context: AccountContext) => {
        allowed(context, "account:read", "own-account:read");
        return context.loaders.ownApiKey(id);
      },
      status: (key: ApiKey) => statusOf(key, clock.now()),
    },
  };
}
