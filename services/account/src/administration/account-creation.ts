import { type Caller, requireScopes } from "@signalbox/auth";
import {
  AdministeredAccountResource,
  apiKeyExample,
  displayName,
  examples,
  roles,
  type Scope,
} from "@signalbox/contracts";
import type { Refusal } from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import { type Account, scopesOfAccount } from "../accounts/account.ts";
import { accountCreated } from "../accounts/account-events.ts";
import { holderOfExternalId } from "../accounts/account-store.ts";
import { actorOf, recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import type { ApiKey } from "../credentials/api-key.ts";
import { apiKeyKind } from "../credentials/api-key.ts";
import { newCredential, refusedCredential } from "../credentials/credential.ts";
import { createCredential, type Issued } from "../credentials/credentials.ts";
import { type FirstValues, firstAccount, firstValues } from "../registration/provisioning.ts";
import { newExternalId, newMetadata, newPlace, scopesMax } from "./account-reference.ts";

export const newAccountRules = (service: AccountService) =>
  z.strictObject({
    display_name: displayName.meta({ examples: ["Customer 4711"] }),
    external_id: newExternalId,
    metadata: newMetadata.default({}),
    role: z.enum(roles).default("owner").describe("The role of the account."),
    scopes_max: scopesMax.default(null),
    ...newPlace(service),
    key: newCredential("key", "A subset of the account's scopes and of your own.").describe(
      "The first key, which acts for the account.",
    ),
  });

type NewAccount = z.output<ReturnType<typeof newAccountRules>>;

type CreationOutcome =
  | ({ outcome: "created"; account: Account } & Issued<ApiKey>)
  | { outcome: "external-id-taken" | "roles-by-issuer" }
  | { outcome: "beyond-roles"; scopes: readonly Scope[] }
  | { outcome: "key-refused"; refusal: Refusal };

/** Creates an active account with its first key. */
export async function createAccountWithKey(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  wanted: NewAccount,
): Promise<CreationOutcome> {
  const { configuration, clock, hasIssuer, accountStore, outbox } = service;
  const account = startAccount(wanted, firstValues(configuration), clock.now());
  const held = scopesOfAccount(account);
  requireScopes(caller, [...held]);
  if (!hasIssuer && wanted.role !== "owner") return { outcome: "roles-by-issuer" };
  const beyond = wanted.key.scopes.filter((scope) => !held.has(scope));
  if (beyond.length > 0) return { outcome: "beyond-roles", scopes: beyond };
  if (account.externalId !== null && (await holderOfExternalId(tx, account.externalId)) !== null) {
    return { outcome: "external-id-taken" };
  }
  await accountStore.insertWithoutLogin(tx, account);
  const by = actorOf(caller, "administrator");
  await recordInAudit(service, tx, by, { action: "account.create", accountId: account.id });
  await outbox.append(tx, [accountCreated(account)]);
  const { expires_at: expiresAt, ...key } = wanted.key;
  const issued = await createCredential(service, tx, caller, apiKeyKind, account, { ...key, expiresAt }, by);
  if (issued.outcome === "issued") return { ...issued, outcome: "created", account };
  // A new account reaches no limit of keys, and keys need no issuer.
  if (issued.outcome !== "invalid") throw new Error(`the first key could not be created: ${issued.outcome}`);
  return { outcome: "key-refused", refusal: ofKey(refusedCredential(issued, "key")) };
}

/** Builds the account as it begins: active, because nobody has to confirm an address. */
function startAccount(wanted: NewAccount, values: FirstValues, now: Date): Account {
  const { display_name: name, locale = values.defaultLocale, timezone: zoneinfo } = wanted;
  return {
    ...firstAccount({ name, locale, zoneinfo }, values, now),
    status: "active",
    externalId: wanted.external_id,
    metadata: wanted.metadata,
    roles: [wanted.role],
    scopesMax: wanted.scopes_max ?? [],
  };
}

/** The faults of the key under their place in the body. */
const ofKey = ({ details = [], ...refusal }: Refusal): Refusal => ({
  ...refusal,
  details: details.map((detail) => ({ ...detail, field: `key.${detail.field}` })),
});

const shownExample = examples.get(AdministeredAccountResource)?.example as AdministeredAccountResource;

export const accountWithKeyExample = {
  ...shownExample,
  api_key: { ...apiKeyExample, hint: "sbx_live_0Sig", key: "sbx_live_0Signalbox0Example0Key000000002VAzzd" },
};
