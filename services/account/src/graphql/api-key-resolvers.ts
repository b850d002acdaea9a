import { type ConnectionArguments, connection, connectionArguments } from "@signalbox/graphql";
import type { Account } from "../accounts/account.ts";
import { type ApiKey, statusOf } from "../api-keys/api-key.ts";
import { cursorOf, positionFrom } from "../api-keys/api-key-position.ts";
import type { Verbs } from "../service.ts";
import { type AccountContext, allowed } from "./account-resolvers.ts";

export function apiKeyResolvers({ apiKeys, clock, pageLimits }: Verbs) {
  return {
    Account: {
      apiKeys: async (account: Pick<Account, "id">, given: ConnectionArguments, context: AccountContext) => {
        const { accountId } = allowed(context, "account:read", "own-account:read");
        const bounds = { maxPageSize: pageLimits.maxPageSize(), defaultPageSize: pageLimits.pageSize() };
        const { limit, cursor } = connectionArguments(given, bounds);
        if (account.id !== accountId) return connection<ApiKey>({ items: [], hasMore: false }, cursorOf);
        const after = cursor === null ? null : positionFrom(cursor);
        const keys = await apiKeys.list(accountId, { after, limit: limit + 1 });
        return connection({ items: keys.slice(0, limit), hasMore: keys.length > limit }, cursorOf);
      },
    },
    ApiKey: {
      __resolveReference: ({ id }: { id: string }, _given: unknown, context: AccountContext) =>
        apiKeys.find(allowed(context, "account:read", "own-account:read").accountId, id),
      status: (key: ApiKey) => statusOf(key, clock.now()),
    },
  };
}
