import { type Caller, requireScopes } from "@signalbox/auth";
import { ApiKeyResource, accountExample, apiKeyExample, examples } from "@signalbox/contracts";
import { AppError, changedMembers, seconds } from "@signalbox/core";
import { conflict, type Edges, edgesOf, operation } from "@signalbox/service";
import { rotate, type Tx } from "@signalbox/storage";
import { z } from "zod";
import { announceAccess } from "../access/access-announcements.ts";
import type { Account } from "../accounts/account.ts";
import { recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { queueNotice, shownAddress } from "../notices/notices.ts";
import {
  type ApiKey,
  apiKeyEvents,
  apiKeyKind,
  apiKeyStore,
  expiryOfReplacement,
  lockLivePredecessors,
  makeApiKey,
  noticeOf,
  replacedKey,
} from "./api-key.ts";
import {
  type CredentialStatus,
  creatorOf,
  newCredential,
  requireNoLongerLife,
  requireWritable,
  rotationOf,
  statusOf,
} from "./credential.ts";
import {
  addAdministratorList,
  type CredentialForm,
  credentialOperations,
  heldCredential,
  secretAnswers,
  security,
} from "./credential-api.ts";
import { type Issued, revokeCredential } from "./credentials.ts";

type RotateKeyOutcome =
  | ({ outcome: "issued" } & Issued<ApiKey>)
  | { outcome: "ended"; status: Exclude<CredentialStatus, "active"> }
  | { outcome: "already-replaced"; by: string }
  | { outcome: "limit-reached"; max: number };

/**
 * The overlap of rotations may double the number of live keys: a full account can still rotate, but not without end.
 */
const liveShare = 2;

/**
 * Creates a key that replaces another: same name, scopes and lifetime. The old one ends with the overlap; without
 * one it ends at once, and so do the keys that it replaced.
 */
async function rotateApiKey(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  old: ApiKey,
  overlapSeconds: number,
): Promise<RotateKeyOutcome> {
  requireWritable(account);
  const { configuration, clock, outbox } = service;
  const now = clock.now();
  const status = statusOf(old, now);
  if (status !== "active") return { outcome: "ended", status };
  if (old.replacedBy !== null) return { outcome: "already-replaced", by: old.replacedBy };
  requireNoWider(caller, old);
  const rotated = [old, ...(await lockLivePredecessors(tx, old.id, now))];
  const max = liveShare * configuration.get("account.api-keys.max");
  const others = (await apiKeyStore.countLive(tx, account.id, now)).live - rotated.length;
  const values = rotated.map(({ expiresAt: endsAt }) => ({ endsAt }));
  const rotation = rotate(values, { max: max - others, overlapMs: seconds(overlapSeconds), now });
  if (rotation.outcome !== "rotated") return { outcome: "limit-reached", max };

  const expiresAt = endOfReplacement(caller, old, now);
  const wanted = { ...old, expiresAt, createdBy: creatorOf(caller), replaces: old.id };
  const issued = makeApiKey(wanted, configuration.get("account.api-keys.environment"), now);
  await apiKeyStore.insert(tx, issued.credential);
  await outbox.append(tx, [apiKeyEvents.created(issued.credential)]);
  const [kept] = rotation.older;
  for (const key of kept ? [old] : rotated) {
    const replaced = replacedKey(key, key.replacedBy ?? issued.credential.id, kept?.endsAt ?? null, now);
    await retire(service, tx, key, replaced, now);
  }
  await recordInAudit(service, tx, caller, { action: "api_key.rotate", subject: old.id, fields: ["replaced_by"] });
  await queueNotice(service, tx, account, noticeOf(issued.credential, shownAddress(caller)));
  return { outcome: "issued", ...issued };
}

/** The lifetime of the old key, counted from now. A key that expires and rotates itself keeps its own end. */
function endOfReplacement(caller: Caller, old: ApiKey, now: Date): Date | null {
  const end = expiryOfReplacement(old, now);
  if (caller.credential.id === old.id) return old.expiresAt;
  requireNoLongerLife(caller, end);
  return end;
}

/** A higher epoch makes every service look the key up again, and so learn of the new end in time. */
async function retire(service: AccountService, tx: Tx, old: ApiKey, key: ApiKey, now: Date): Promise<void> {
  const { id, accountId, accessEpoch: epoch, revokedAt } = key;
  const changed = changedMembers(old, key, { expiresAt: "expires_at", replacedBy: "replaced_by" });
  const state = revokedAt === null ? "active" : "revoked";
  const { revoked, updated } = apiKeyEvents;
  await apiKeyStore.save(tx, key);
  await service.outbox.append(tx, [state === "revoked" ? revoked(key, "rotated", now) : updated(key, changed, now)]);
  await announceAccess(service, tx, { kind: "key", id, accountId, state, epoch });
}

/** The answer shows a working key, so the caller needs every scope and role of the key. */
function requireNoWider(caller: Caller, { scopes, roles }: ApiKey): void {
  requireScopes(caller, scopes);
  const beyond = roles.filter((role) => !caller.roles.includes(role));
  if (beyond.length === 0) return;
  const message = `The key has the role ${beyond.join(" and ")}, which you do not have.`;
  throw new AppError("forbidden", message, { details: [{ field: "roles", code: "beyond_creator", message }] });
}

export const IssuedApiKey = ApiKeyResource.extend({
  key: z.string().describe("The key itself, shown only once."),
})
  .meta({ id: "IssuedApiKey", description: "An API key with the key itself, shown only once." })
  .register(examples, {
    example: { ...apiKeyExample, hint: "sbx_live_0Sig", key: "sbx_live_0Signalbox0Example0Key000000002VAzzd" },
  });

const tooManyKeys = (max: number) =>
  conflict("api_keys", "too_many", `The account has ${max} keys; revoke one that is not needed.`);

const apiKeyForm: CredentialForm<ApiKey> = {
  noun: "API key",
  word: "key",
  type: "ApiKey",
  isEntity: true,
  folder: "api-keys",
  idParameter: "key_id",
  kind: apiKeyKind,
  input: newCredential(
    "key",
    "A subset of the creator's scopes. An empty list creates a client key, which can only evaluate flags marked `client`.",
    0,
  ),
  resource: ApiKeyResource,
  issuedResource: IssuedApiKey,
  secretView: ({ secret }) => ({ key: secret }),
  members: { one: "apiKey", secret: "key" },
  tooMany: tooManyKeys,
  texts: {
    issued: "The answer shows the key once. Repeat the request with its `Idempotency-Key` to read it again.",
    secretless: "without the key itself",
    revoked: "The key stops working everywhere within two seconds. Revoking it again changes nothing.",
  },
};

/** The API keys of an account, at both edges. */
export function apiKeyApi(service: AccountService): Edges {
  const { clock } = service;
  const { list, read, create, rename, revoke, revokeByAdministrator } = credentialOperations(service, apiKeyForm);
  const declared = {
    apiKeys: list,
    apiKey: read,
    createApiKey: create,
    renameApiKey: rename,
    rotateApiKey: rotation(service),
    revokeApiKey: revoke,
    revokeAccountApiKey: revokeByAdministrator,
    revokeCurrentApiKey: operation({
      summary: "Revoke the API key that this request came with",
      description: "For a leaked key. Needs no scope. With any other credential the answer is 404.",
      // A key may always revoke itself: this only takes access away.
      auth: { scopes: [], access: "own-account:read" },
      audit: "api_key.revoke",
      of: {
        find: async (tx, { caller: { accountId, credential } }) =>
          credential.kind === "api-key" ? apiKeyStore.lock(tx, accountId, credential.id) : null,
        missing: "This request did not come with an API key.",
      },
      change: (tx, key, { caller }) => revokeCredential(service, tx, caller, apiKeyKind, key),
      rest: { delete: "/api/account/current-api-key/", responses: { 204: "empty" } },
    }),
  };
  const fields = { ApiKey: { status: (key: ApiKey) => statusOf(key, clock.now()) } };
  const exampleIds = { account_id: accountExample.id, key_id: apiKeyExample.id };
  const edges = edgesOf(declared, { errors: "account", exampleIds, fields });
  addAdministratorList(service, edges.routes, "accountApiKeys", apiKeyForm);
  return edges;
}

function rotation(service: AccountService) {
  const { answerIssued, issuedGraph } = secretAnswers(service, apiKeyForm);
  return operation({
    summary: "Replace an API key",
    description:
      "Creates a key with the same name, scopes and lifetime, and shows it once. The old one works until the overlap ends. `If-Match` refers to the old one.",
    auth: security,
    audit: "api_key.rotate",
    input: rotationOf("key"),
    of: heldCredential(service, apiKeyForm),
    change: (tx, { account, credential }, { caller, input }) =>
      rotateApiKey(service, tx, caller, account, credential, input.overlap_seconds),
    refusals: {
      ended: ({ status }) => conflict("status", status, `The key is ${status}; create a new one instead.`),
      "already-replaced": ({ by }) =>
        conflict("replaced_by", "already_replaced", `The key was replaced by ${by}; rotate that one.`),
      "limit-reached": ({ max }) => tooManyKeys(max),
    },
    rest: {
      post: "/api/account/api-keys/:key_id/rotate",
      responses: { 201: IssuedApiKey, 422: "error" },
      idempotent: "sealed",
      answer: answerIssued,
    },
    graph: issuedGraph,
  });
}
