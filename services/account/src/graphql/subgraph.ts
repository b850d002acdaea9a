import { readFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import type { Principal } from "@signalbox/auth";
import { createSubgraph } from "@signalbox/graphql";
import type { Logger } from "@signalbox/telemetry";
import type { Account } from "../accounts/account.ts";
import type { ApiKey } from "../credentials/api-key.ts";
import { credentialFields } from "../credentials/credential-fields.ts";
import type { Verbs } from "../verbs.ts";
import { accountResolvers } from "./account-resolvers.ts";
import { administrationResolvers } from "./administration-resolvers.ts";
import { auditResolvers } from "./audit-resolvers.ts";
import { contactMutations } from "./contact-mutations.ts";
import { type Load, loadTogether } from "./load-together.ts";
import { mergeResolvers } from "./merge-resolvers.ts";
import { notingRefusals } from "./noting-refusals.ts";
import { settingsResolvers } from "./settings-resolvers.ts";
import { signInMutations } from "./sign-in-mutations.ts";

/** What one request looks up together. Whether the caller may see it is asked before. */
export interface AccountLoaders {
  readonly account: Load<Account>;
  /** A key of the caller's account. */
  readonly ownApiKey: Load<ApiKey>;
}

const schemaFile = new URL("../../schema.graphql", import.meta.url);

/** Each area's part of the graph. */
const tables = [
  accountResolvers,
  settingsResolvers,
  credentialFields,
  auditResolvers,
  administrationResolvers,
  contactMutations,
  signInMutations,
];

/** The account service's part of the graph. */
export async function createAccountSubgraph(verbs: Verbs, log: Logger): Promise<RequestListener> {
  return createSubgraph<AccountLoaders>({
    typeDefs: await readFile(schemaFile, "utf8"),
    log,
    clock: verbs.clock,
    pool: verbs.pool,
    createLoaders: (principal) => loadersFor(verbs, principal),
    resolvers: notingRefusals(resolversOf(verbs), verbs.noteRefusal),
  });
}

/** What every field answers, and to whom. */
export function resolversOf(verbs: Verbs) {
  return mergeResolvers<AccountLoaders>(tables.map((areaOf) => areaOf(verbs)));
}

function loadersFor({ accounts, keys }: Verbs, principal: Principal | null): AccountLoaders {
  const ownKeys = async (ids: readonly string[]) => (principal ? keys.findMany(principal.accountId, ids) : []);
  return {
    account: loadTogether(accounts.findMany, ({ id }) => id),
    ownApiKey: loadTogether(ownKeys, ({ id }) => id),
  };
}
