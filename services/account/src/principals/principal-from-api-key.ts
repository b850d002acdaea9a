import { digestApiKey, type Principal, parseApiKey, sameDigest } from "@signalbox/auth";
import { AppError, type Clock } from "@signalbox/core";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Refusal } from "../audit/audit.ts";
import type { NoteRefusal } from "../audit/note-refusal.ts";
import type { ApiKey } from "../credentials/api-key.ts";
import { type CredentialStatus, statusOf } from "../credentials/credential.ts";
import type { CredentialStore } from "../credentials/credential-store.ts";

interface Dependencies {
  readonly apiKeys: Pick<CredentialStore<ApiKey>, "findByDigest" | "touch">;
  readonly accounts: Pick<AccountStore, "find">;
  readonly clock: Clock;
  readonly noteRefusal: NoteRefusal;
  /** Told when a use could not be noted; the key is good all the same. */
  readonly onTouchFailure: (error: unknown) => void;
}

/** The principal of an API key: it acts for the account that made it, with the scopes it was given. */
export function createPrincipalFromApiKey(dependencies: Dependencies) {
  const { apiKeys, accounts, clock, noteRefusal, onTouchFailure } = dependencies;

  return async function principalFromApiKey(text: string): Promise<Principal> {
    if (!parseApiKey(text)) throw refused("The API key is mistyped.");
    const digest = digestApiKey(text);
    const key = await apiKeys.findByDigest(digest);
    if (!key || !sameDigest(key.digest, digest)) throw refused("The API key is not known.");
    const status = statusOf(key, clock.now());
    if (status !== "active") {
      noteRefusal(endedKeyUsed(key, status));
      throw refused(`The API key is ${status}.`);
    }
    const account = await accounts.find(key.accountId);
    if (!account) throw refused("The API key is not known.");

    apiKeys.touch(key.id, clock.now()).catch(onTouchFailure);
    return {
      accountId: account.id,
      state: account.status,
      epoch: account.accessEpoch,
      scopes: new Set(key.scopes),
      roles: key.roles,
      credential: { kind: "api-key", id: key.id, authTimeMs: null },
      expiresAt: key.expiresAt,
    };
  };
}

const refused = (message: string) => new AppError("unauthorized", message);

/** Somebody still has a key that was ended: its owner wants to know. Where from, the asking service has not said. */
function endedKeyUsed({ id, accountId }: ApiKey, status: CredentialStatus): Refusal {
  const by = { kind: "owner", accountId, credential: id, address: null, requestId: null } as const;
  return { accountId, operation: "api_key.use", reason: status, fields: ["status"], subject: id, by };
}
