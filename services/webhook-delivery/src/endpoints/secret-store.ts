import { newId } from "@signalbox/core";
import { keepValues, type SealedColumn, type Sealer, sql, type Tx, table } from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import { sealedSigningKeys } from "./signing-key-store.ts";

const secrets = table("endpoint_secrets", columns.endpoint_secrets);
/** Of the older secrets of an endpoint those given stay, each until its end. */
export const keepSecrets = keepValues("endpoint_secrets", "endpoint_id");
const find = sql(
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

export const openSecret = (sealer: Sealer, endpointId: string, sealed: string): string =>
  sealer.open(sealed, place(endpointId)).toString("utf8");

export const openCredential = (sealer: Sealer, endpointId: string, name: string, sealed: string): string =>
  sealer.open(sealed, credentialPlace(endpointId, name)).toString("utf8");

export async function insertSecret(tx: Tx, sealer: Sealer, endpointId: string, secret: string, createdAt: Date) {
  const value = { id: newId("whk", createdAt.getTime()), createdAt };
  const sealed = sealer.seal(secret, place(endpointId));
  await secrets.insert(tx, { ...value, endpointId, sealed, expiresAt: null });
  return { ...value, endsAt: null };
}

/** Returns the newest secret in the clear; null when the account has no such endpoint. */
export async function findSecret(tx: Tx, sealer: Sealer, accountId: string, id: string): Promise<string | null> {
  const [row] = (await tx.query<{ sealed: string }>(find, [id, accountId])).rows;
  return row === undefined ? null : openSecret(sealer, id, row.sealed);
}

/** Saves the sealed parts of the settings; null removes one. */
export async function saveCredentials(
  tx: Tx,
  sealer: Sealer,
  id: string,
  credentials: ReadonlyMap<string, string | null>,
): Promise<void> {
  for (const [name, text] of credentials) {
    if (text === null) await tx.query(removeCredential, [id, name]);
    else await tx.query(saveCredential, [id, name, sealer.seal(text, credentialPlace(id, name))]);
  }
}
