import { createApiKey, parseApiKey } from "@signalbox/auth";
import {
  ApiKeyResource,
  draft,
  isRole,
  isScope,
  type Role,
  scopesInEvent,
  viewOf,
  type WhyPart,
} from "@signalbox/contracts";
import { randomId } from "@signalbox/core";
import { hasPrefix, stepsOf, type WhyFinder } from "@signalbox/service";
import { sql, type Tx, table } from "@signalbox/storage";
import type { AccountService } from "../context/account-service.ts";
import { columns } from "../generated/columns.ts";
import type { Notice } from "../notices/notices.ts";
import { type Credential, type CredentialOrigin, freshCredential, type NewCredential, statusOf } from "./credential.ts";
import { CredentialStore } from "./credential-store.ts";
import type { CredentialKind, EndReason, Issued } from "./credentials.ts";

/** A stored API key: without the key itself. */
export interface ApiKey extends Credential {
  /** Its first characters, which may be shown later. */
  readonly hint: string;
  readonly roles: readonly Role[];
  /** The id of the key that this one replaced by rotation, and of the key that replaced this one. */
  readonly replaces: string | null;
  readonly replacedBy: string | null;
}

const apiKeys = table("api_keys", columns.api_keys, ["endToldAt"]);

const predecessors = sql(
  "api_keys.lock-live-predecessors",
  `with recursive older as (
     select replaces as id from api_keys where id = $1
     union select replaces from api_keys join older using (id)
   )
   select ${apiKeys.columns} from api_keys where id in (select id from older) and revoked_at is null
     and (expires_at is null or expires_at > $2) order by created_at desc, id desc for update`,
);

const fromRow = (row: ApiKey) => ({ ...row, scopes: row.scopes.filter(isScope), roles: row.roles.filter(isRole) });

/** Reads and locks the live keys that the key `id` replaced, directly or through others, newest first. */
export const lockLivePredecessors = async (tx: Tx, id: string, now: Date): Promise<ApiKey[]> =>
  (await tx.query<ApiKey>(predecessors, [id, now])).rows.map(fromRow);

export const apiKeyStore = new CredentialStore<ApiKey>({
  name: "api_keys",
  table: apiKeys,
  save: apiKeys.update("name", "expiresAt", "revokedAt", "accessEpoch", "replacedBy"),
  isCurrent: "replaced_by is null",
  fromRow,
});

const viewApiKey = viewOf(ApiKeyResource, (key: ApiKey, now: Date) => ({ status: statusOf(key, now) }));

const dataOf = (key: ApiKey, now: Date) => ({ ...viewApiKey(key, now), ...scopesInEvent(key.scopes) });

const about = (key: ApiKey) => ({ subject: key.id, accountId: key.accountId });

export const apiKeyEvents = {
  created: (key: ApiKey) =>
    draft("api_key.created", { ...about(key), data: { ...dataOf(key, key.createdAt), changed: [] } }),
  /** `changed` has wire names. */
  updated: (key: ApiKey, changed: string[], now: Date) =>
    draft("api_key.updated", { ...about(key), data: { ...dataOf(key, now), changed } }),
  revoked(key: ApiKey, reason: EndReason, now: Date) {
    const changed = key.revokedAt === null ? ["status"] : ["status", "revoked_at"];
    return draft("api_key.revoked", { ...about(key), data: { ...dataOf(key, now), changed, reason } });
  },
};

/** Creates a new key. `environment` is part of the text, so that test keys and real keys differ at sight. */
export function makeApiKey(
  wanted: NewCredential & CredentialOrigin & { readonly replaces?: string },
  environment: string,
  now: Date,
): Issued<ApiKey> {
  const secret = createApiKey(environment);
  const { roles = [], replaces = null } = wanted;
  const credential: ApiKey = {
    ...freshCredential(wanted, { id: randomId("key"), secret, now }),
    hint: parseApiKey(secret)?.hint ?? "",
    roles,
    replaces,
    replacedBy: null,
  };
  return { credential, secret };
}

export const noticeOf = ({ hint: key }: ApiKey, address: string): Notice => ({ kind: "api-key-created", key, address });

/** The API keys of an account. The answer that creates a key shows it, once; only its digest is stored. */
export const apiKeyKind: CredentialKind<ApiKey> = {
  audited: "api_key",
  access: "key",
  store: apiKeyStore,
  view: viewApiKey,
  max: ({ configuration }) => configuration.get("account.api-keys.max"),
  needsIssuer: false,
  mayBePrivileged: true,
  make: ({ configuration }, wanted, now) => makeApiKey(wanted, configuration.get("account.api-keys.environment"), now),
  notice: noticeOf,
  ...apiKeyEvents,
};

/**
 * Returns the end of a new key: the lifetime of the replaced key, counted from now; null when that one never expires.
 */
export function expiryOfReplacement({ createdAt, expiresAt }: ApiKey, now: Date): Date | null {
  return expiresAt && new Date(now.getTime() + expiresAt.getTime() - createdAt.getTime());
}

/** The old key after its rotation: it expires at this end, and without one it is revoked. */
export function replacedKey(key: ApiKey, replacedBy: string, endsAt: Date | null, now: Date): ApiKey {
  const next = { ...key, replacedBy, accessEpoch: key.accessEpoch + 1 };
  return endsAt === null ? { ...next, revokedAt: now } : { ...next, expiresAt: endsAt };
}

const step = stepsOf("account");

/** Finds the life of a key, for the chain behind an id. */
export const whyApiKey = ({ pool }: AccountService): WhyFinder => ({
  scopes: ["account:read"],
  knows: hasPrefix("key"),
  find: async ({ accountId }, id) => lifeOf(await apiKeyStore.find(pool, accountId, id)),
});

function lifeOf(key: ApiKey | null): WhyPart | null {
  if (key === null) return null;
  const { id, lastUsedAt, revokedAt, expiresAt, replaces, replacedBy } = key;
  const link = `/api/account/api-keys/${id}`;
  return {
    steps: [
      step({ at: key.createdAt, id, what: "The key was created.", by: key.createdBy, link }),
      ...(lastUsedAt ? [step({ at: lastUsedAt, id, what: "The key was last used.", link })] : []),
      ...(revokedAt ? [step({ at: revokedAt, id, what: "The key was revoked.", verdict: "failed", link })] : []),
      ...(expiresAt ? [step({ at: expiresAt, id, what: "The key expires.", verdict: "waiting", link })] : []),
    ],
    next: [replaces, replacedBy].filter((other) => other !== null),
  };
}
