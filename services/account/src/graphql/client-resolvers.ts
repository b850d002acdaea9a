import type { ConnectionArguments } from "@signalbox/graphql";
import { cursorByTime, readTimeCursor } from "@signalbox/http";
import type { Account } from "../accounts/account.ts";
import { previousSecretUntil, type ServiceClient, statusOf } from "../clients/service-client.ts";
import type { Verbs } from "../verbs.ts";
import { type AccountContext, allowed } from "./account-resolvers.ts";
import { pageOf } from "./page-of.ts";

export function clientResolvers({ clients, clock, pageLimits }: Verbs) {
  return {
    Account: {
      serviceClients: (account: Pick<Account, "id">, given: ConnectionArguments, context: AccountContext) => {
        const { accountId } = allowed(context, "account:read", "own-account:read");
        return pageOf<ServiceClient>(given, pageLimits, {
          cursorOf: cursorByTime,
          async read(limit, cursor) {
            const after = cursor === null ? null : readTimeCursor(cursor);
            return account.id === accountId ? clients.list(accountId, { after, limit }) : [];
          },
        });
      },
    },
    ServiceClient: {
      status: (client: ServiceClient) => statusOf(client, clock.now()),
      previousSecretExpiresAt: (client: ServiceClient) => previousSecretUntil(client, clock.now()),
    },
  };
}
