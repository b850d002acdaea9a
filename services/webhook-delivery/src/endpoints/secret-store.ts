import { newId } from "@signalbox/core";
import {
  keepValues,
  type RotatingValue,
  type SealedColumn,
  type Sealer,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import { openSigningKey, sealedSigningKeys } from "../signing-keys/signing-key-store.ts";
import type { Opening } from "./signing-endpoint.ts";

const secrets = table("endpoint_secrets", {
  id: "text",
  endpointId: "text",
  sealed: "text",
  createdAt: "timestamptz",
  expiresAt: "timestamptz",
});
const keepOlder = keepValues("endpoint_secrets", "endpoint_id");
const removePrevious = sql(
  "endpoint.remove-previous-secrets",
  "delete from endpoint_secrets where endpoint_id = $1 and expires_at is not null",
);
const listSecrets = sql(
  "endpoint.list-secrets",
  `select id, created_at as "createdAt", expires_at as "endsAt" from endpoint_secrets where endpoint_id = $1
   order by created_at desc, id desc`,
);
const findSecret = sql(
  "endpoint.find-secret",
  `select sealed from endpoint_secrets join endpoints p on p.id = endpoint_id
   where endpoint_id = $1 and account_id = $2 and deleted_at is null and expires_at is null`,
);

const saveCredential = sql(
  "endpoint.save-credential",
  `insert into endpoint_credentials (endpoint_id, name, sealed) values ($1, $2, $3)
   on conflict (endpoint_id, name) do update set sealed = excluded.sealed`,
);
const removeCredential = sql(
  "endpoint.remove-credential",
  "delete from endpoint_credentials where endpoint_id = $1 and name = $2",
);
const service = "webhook-delivery";
const place = (endpointId: unknown) => ({ service, table: "endpoints", row: String(endpointId) });
const credentialPlace = (endpointId: unknown, name: unknown) => ({
  service,
  table: "endpoint_credentials",
  row: `${endpointId}/${name}`,
});

/** Sealed columns of this service. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: "endpoint_secrets", column: "sealed", key: ["endpoint_id", "id"], place: ([id]) => place(id) },
  {
    table: "endpoint_credentials",
    column: "sealed",
    key: ["endpoint_id", "name"],
    place: ([id, name]) => credentialPlace(id, name),
  },
  sealedSigningKeys,
];

export const openingWith = (sealer: Sealer): Opening => ({
  secret: (id, sealed) => sealer.open(sealed, place(id)).toString("utf8"),
  credential: (id, name, sealed) => sealer.open(sealed, credentialPlace(id, name)).toString("utf8"),
  signingKey: openSigningKey(sealer),
});

/** Stores the sealed secrets of endpoints and the sealed parts of their settings in PostgreSQL. */
export function createSecretStore(sealer: Sealer) {
  const { secret: open } = openingWith(sealer);
  const insert = (tx: Tx, endpointId: string, secret: string, at: Date) =>
    secrets.insert(tx, {
      id: newId("whk", at.getTime()),
      endpointId,
      sealed: sealer.seal(secret, place(endpointId)),
      createdAt: at,
      expiresAt: null,
    });

  return {
    insert,
    /** Lists the secrets of an endpoint with their ends, newest first. */
    list: async (tx: Tx, id: string) => (await tx.query<RotatingValue>(listSecrets, [id])).rows,
    /** Adds the newest secret. Of the others those in `older` stay, each until its end. */
    async add(tx: Tx, id: string, secret: string, at: Date, older: readonly RotatingValue[]): Promise<void> {
      await keepOlder(tx, id, older);
      await insert(tx, id, secret, at);
    },
    /** Removes all secrets but the newest; returns their number. */
    removePrevious: async (tx: Tx, id: string): Promise<number> => (await tx.query(removePrevious, [id])).rowCount,
    /** Returns the newest secret in the clear; null when the account has no such endpoint. */
    async find(tx: Tx, accountId: string, id: string): Promise<string | null> {
      const [row] = (await tx.query<{ sealed: string }>(findSecret, [id, accountId])).rows;
      return row === undefined ? null : open(id, row.sealed);
    },
    /** Saves the sealed parts of the settings; null removes one. */
    async saveCredentials(tx: Tx, id: string, credentials: ReadonlyMap<string, string | null>): Promise<void> {
      for (const [name, text] of credentials) {
        if (text === null) await tx.query(removeCredential, [id, name]);
        else await tx.query(saveCredential, [id, name, sealer.seal(text, credentialPlace(id, name))]);
      }
    },
  };
}

export type SecretStore = ReturnType<typeof createSecretStore>;
