import { scopes } from "@signalbox/contracts";
import { apiKeyKind } from "./credentials/api-key.ts";
import { createCredential } from "./credentials/credentials.ts";
import { type JobContext, withFirstAccount } from "./first-account.ts";

/**
 * Creates the first key of a deployment, of the first account, with every scope. Each call creates another key of the
 * same account, so the caller must keep the answer.
 */
export const createFirstKey = (context: JobContext): Promise<string> =>
  withFirstAccount(context, "signalbox-first-key", async ({ tx, account, operator, by, service }) => {
    const wanted = { name: "First key", scopes, roles: ["admin"], expiresAt: null } as const;
    const result = await createCredential(service, tx, operator, apiKeyKind, account, wanted, by);
    if (result.outcome !== "issued") throw new Error(`the first key could not be created: ${result.outcome}`);
    return result.secret;
  });
