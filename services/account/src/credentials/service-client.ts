import { createApiKey, digestApiKey, parseApiKey, sameDigest } from "@signalbox/auth";
import { draft, isScope, ServiceClientResource, scopesInEvent, viewOf } from "@signalbox/contracts";
import { randomId } from "@signalbox/core";
import { isLive, type Queryable, type RotatingValue, sql, table, viewValue } from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import { type Credential, type CredentialOrigin, freshCredential, type NewCredential, statusOf } from "./credential.ts";
import { CredentialStore } from "./credential-store.ts";
import type { CredentialKind, EndReason, Issued } from "./credentials.ts";

/** A stored service client: without its secret. */
export interface ServiceClient extends Credential {
  /** Digest and end of the secret before the last rotation; both null without one. */
  readonly previousDigest: Uint8Array | null;
  readonly previousUntil: Date | null;
  /** Id and creation time of the newest secret; null for one from before they were kept. */
  readonly secretId: string | null;
  readonly secretCreatedAt: Date | null;
  /** The same of the previous secret; null without one too. */
  readonly previousId: string | null;
  readonly previousCreatedAt: Date | null;
}

const clients = table("service_clients", columns.service_clients, ["endToldAt"]);

const newestColumns = ["digest", "secretId", "secretCreatedAt"] as const;
const previousColumns = ["previousDigest", "previousUntil", "previousId", "previousCreatedAt"] as const;

const findUsable = sql(
  "service_clients.find-usable",
  `select ${clients.columns} from service_clients
   where id = $1 and exists (select 1 from accounts where accounts.id = account_id and status <> 'deleted')`,
);

const fromRow = (row: ServiceClient): ServiceClient => ({ ...row, scopes: row.scopes.filter(isScope) });

export const serviceClientStore = new CredentialStore<ServiceClient>({
  name: "service_clients",
  table: clients,
  save: clients.update("name", ...newestColumns, ...previousColumns, "accessEpoch", "revokedAt"),
  isCurrent: "true",
  fromRow,
});

/** Finds a usable client for the token endpoint, which knows no account yet; null when its account is deleted. */
export async function findUsableClient(db: Queryable, clientId: string): Promise<ServiceClient | null> {
  const { rows } = await db.query<ServiceClient>(findUsable, [clientId]);
  return rows[0] ? fromRow(rows[0]) : null;
}

const viewServiceClient = viewOf(ServiceClientResource, (client: ServiceClient, now: Date) => ({
  status: statusOf(client, now),
  secrets: liveSecretsOf(client, now).map(viewValue),
  previous_secret_expires_at: previousSecretUntil(client, now)?.toISOString() ?? null,
}));

const about = (client: ServiceClient) => ({ subject: client.id, accountId: client.accountId });

/** Events say nothing about secrets, not even how many there are or when the previous one ends. */
function dataOf(client: ServiceClient, now: Date) {
  const { secrets: _, previous_secret_expires_at: __, ...data } = viewServiceClient(client, now);
  return { ...data, ...scopesInEvent(client.scopes) };
}

export const serviceClientEvents = {
  created: (client: ServiceClient) =>
    draft("service_client.created", { ...about(client), data: { ...dataOf(client, client.createdAt), changed: [] } }),
  /** `changed` has wire names. */
  updated: (client: ServiceClient, changed: string[], now: Date) =>
    draft("service_client.updated", { ...about(client), data: { ...dataOf(client, now), changed } }),
  revoked(client: ServiceClient, reason: EndReason, now: Date) {
    const changed = client.revokedAt === null ? ["status"] : ["status", "revoked_at"];
    const data = { ...dataOf(client, now), changed, reason: reason === "rotated" ? "revoked" : reason };
    return draft("service_client.revoked", { ...about(client), data });
  },
};

/** Takes the place of the environment in API keys, so that scanners that know our keys find client secrets too. */
const prefix = "client";

/** Creates a client with its secret `sbx_client_…`. */
export function makeServiceClient(wanted: NewCredential & CredentialOrigin, now: Date): Issued<ServiceClient> {
  const secret = createApiKey(prefix);
  const fresh = freshCredential(wanted, { id: randomId("cli"), secret, now });
  return { credential: withPrevious({ ...fresh, secretId: randomId("cls"), secretCreatedAt: now }), secret };
}

/** The service clients of an account: programs that get tokens from the built-in issuer and act for the account. */
export const serviceClientKind: CredentialKind<ServiceClient> = {
  audited: "client",
  access: "client",
  store: serviceClientStore,
  view: viewServiceClient,
  max: ({ configuration }) => configuration.get("account.clients.max"),
  needsIssuer: true,
  mayBePrivileged: false,
  make: (_service, wanted, now) => makeServiceClient(wanted, now),
  notice: ({ id: client }, address) => ({ kind: "client-created", client, address }),
  ...serviceClientEvents,
};

/** A secret of a client, of which only the digest is stored. */
interface ClientSecret extends RotatingValue {
  readonly digest: Uint8Array;
}

/**
 * Returns the secrets of a client with their ends, the newest first. Those from before ids and creation times were kept
 * have an id by their place, which a rotation stores, and the time of the client.
 */
export function secretsOf(client: ServiceClient): ClientSecret[] {
  const { digest, previousDigest, previousUntil } = client;
  const newest = {
    id: client.secretId ?? `${client.id}.2`,
    createdAt: client.secretCreatedAt ?? client.createdAt,
    endsAt: null,
    digest,
  };
  if (!previousDigest || !previousUntil) return [newest];
  const previous = {
    id: client.previousId ?? `${client.id}.1`,
    createdAt: client.previousCreatedAt ?? client.createdAt,
    endsAt: previousUntil,
    digest: previousDigest,
  };
  return [newest, previous];
}

/** Returns the secrets that work now, the newest first: none of a client that has ended. */
export const liveSecretsOf = (client: ServiceClient, now: Date): ClientSecret[] =>
  statusOf(client, now) === "active" ? secretsOf(client).filter((secret) => isLive(secret, now)) : [];

/** Gives a client a new secret. `previous` stays valid until its end. */
export function withNewSecret(client: ServiceClient, previous: ClientSecret | undefined, now: Date) {
  const secret = createApiKey(prefix);
  const newest = { digest: digestApiKey(secret), secretId: randomId("cls"), secretCreatedAt: now };
  return { credential: withPrevious({ ...client, ...newest }, previous), secret };
}

/** Leaves a client its newest secret and, until its end, `previous`. */
export function withPrevious(
  client: Omit<ServiceClient, (typeof previousColumns)[number]>,
  previous?: ClientSecret,
): ServiceClient {
  const { digest = null, endsAt = null, id = null, createdAt = null } = previous ?? {};
  return { ...client, previousDigest: digest, previousUntil: endsAt, previousId: id, previousCreatedAt: createdAt };
}

/** Digests a presented secret; null when its check digits are wrong. */
export function digestClientSecret(text: string): Buffer | null {
  return parseApiKey(text)?.environment === prefix ? digestApiKey(text) : null;
}

/** Returns true for the digest of a valid secret. Compares all in constant time. */
export function acceptsSecret(client: ServiceClient, digest: Uint8Array, now: Date): boolean {
  return secretsOf(client).filter((secret) => isLive(secret, now) && sameDigest(secret.digest, digest)).length > 0;
}

/** End of the previous secret; null when only one is valid. */
export const previousSecretUntil = ({ previousUntil: endsAt }: ServiceClient, now: Date): Date | null =>
  isLive({ endsAt }, now) ? endsAt : null;
