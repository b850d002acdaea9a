import { readFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import type { Principal } from "@signalbox/auth";
import { createSubgraph } from "@signalbox/graphql";
import type { Logger } from "@signalbox/telemetry";
import type { Account } from "../accounts/account.ts";
import type { Verbs } from "../service.ts";
import { accountResolvers } from "./account-resolvers.ts";
import { administrationResolvers } from "./administration-resolvers.ts";
import { apiKeyResolvers } from "./api-key-resolvers.ts";
import { notingRefusals } from "./noting-refusals.ts";

/** What one request reads once, however many fields ask for it. */
export interface AccountLoaders {
  /** The caller's own account: the only one a caller may see here. */
  readonly ownAccount: () => Promise<Account | null>;
}

const schemaFile = new URL("../../schema.graphql", import.meta.url);

/** The account service's part of the graph. */
export async function createAccountSubgraph(verbs: Verbs, log: Logger): Promise<RequestListener> {
  return createSubgraph<AccountLoaders>({
    typeDefs: await readFile(schemaFile, "utf8"),
    log,
    createLoaders: (principal) => ({ ownAccount: readOnce(verbs, principal) }),
    resolvers: notingRefusals(resolversOf(verbs), verbs.noteRefusal),
  });
}

/** Two tables add fields to `Account`, and two to `Mutation`. */
function resolversOf(verbs: Verbs) {
  const [accounts, apiKeys, administration] = [
    accountResolvers(verbs),
    apiKeyResolvers(verbs),
    administrationResolvers(verbs),
  ];
  return {
    ...accounts,
    ...apiKeys,
    Account: { ...accounts.Account, ...apiKeys.Account },
    Mutation: { ...accounts.Mutation, ...administration.Mutation },
  };
}

function readOnce({ accounts }: Verbs, principal: Principal | null): () => Promise<Account | null> {
  let reading: Promise<Account | null> | undefined;
  return () => {
    reading ??= principal ? accounts.find(principal.accountId) : Promise.resolve(null);
    return reading;
  };
}
