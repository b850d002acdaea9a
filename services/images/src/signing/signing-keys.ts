import type { Caller } from "@signalbox/auth";
import { hours } from "@signalbox/core";
import { audited, type OwnRow } from "@signalbox/service";
import { isOfService, olderAfter, type SigningKey, type Tx } from "@signalbox/storage";
import type { ImagesService } from "../context/images-service.ts";

/** Every URL has expired by then: it is signed for a week, and up to a day is added. */
export const longestLifeMs = hours(8 * 24);

/** The service's key and the previous one, whose URLs stay valid. */
const serviceKeysMax = 2;
/** An owner's servers move from one key to the next. */
const ownerKeysMax = 2;
const limitReached = { outcome: "limit-reached", max: ownerKeysMax } as const;

/** A key among all of its account, which are locked. */
interface LockedKey {
  readonly key: SigningKey;
  readonly keys: readonly SigningKey[];
}

/** Finds a key by its id; `which` narrows. */
export const ownKey = (
  { signingKeyStore }: ImagesService,
  which: (key: SigningKey) => boolean = () => true,
): OwnRow<LockedKey, { readonly key_id: string }> => ({
  async find(tx, { caller, params }) {
    const keys = await signingKeyStore.lock(tx, caller.accountId);
    const key = keys.find((one) => one.id === params.key_id && which(one));
    return key ? { key, keys } : null;
  },
  missing: "There is no such signing key.",
});

/**
 * Rotates the key of the service, and returns the new one and the older ones. URLs of the previous key stay valid until
 * they expire, the overlap ends or the next rotation; those of older keys end now, so no limit refuses a rotation.
 */
export async function rotateSigningKey(service: ImagesService, tx: Tx, caller: Caller, overlapMs = longestLifeMs) {
  const { signingKeyStore, outbox, clock } = service;
  const keys = await signingKeyStore.lock(tx, caller.accountId);
  const terms = { overlapMs, now: clock.now() };
  const older = olderAfter(keys.filter(isOfService), terms).slice(0, serviceKeysMax - 1);
  await signingKeyStore.keep(tx, caller.accountId, keys, [...older, ...keys.filter(isOfOwner)]);
  const key = await signingKeyStore.add(tx, caller.accountId, "service", keys);
  await outbox.append(tx, [audited(caller, { action: "image.rotate_signing_key" })]);
  return { key, older };
}

/** Creates a key with which the owner signs URLs. */
export async function createOwnerKey({ signingKeyStore, outbox }: ImagesService, tx: Tx, caller: Caller) {
  const keys = await signingKeyStore.lock(tx, caller.accountId);
  if (keys.filter(isOfOwner).length >= ownerKeysMax) return limitReached;
  const key = await signingKeyStore.add(tx, caller.accountId, "owner", keys);
  await outbox.append(tx, [audited(caller, { action: "image_signing_key.create", subject: key.id })]);
  return { outcome: "created", key } as const;
}

/**
 * Replaces a key of the owner's. Its URLs, and those of keys that were replaced before, end with the overlap; another
 * key without an end stays.
 */
export async function rotateOwnerKey(
  service: ImagesService,
  tx: Tx,
  caller: Caller,
  { key: replaced, keys }: LockedKey,
  overlapMs = longestLifeMs,
) {
  const { signingKeyStore, outbox, clock } = service;
  const others = keys.filter((one) => one !== replaced);
  const isBeside = (one: SigningKey) => isOfOwner(one) && one.endsAt === null;
  const replacedBefore = others.filter((one) => isOfOwner(one) && !isBeside(one));
  const older = olderAfter([replaced, ...replacedBefore], { overlapMs, now: clock.now() });
  const beside = others.filter(isBeside);
  if (older.length > 0 && older.length + beside.length >= ownerKeysMax) return limitReached;
  await signingKeyStore.keep(tx, caller.accountId, keys, [...older, ...beside, ...keys.filter(isOfService)]);
  const key = await signingKeyStore.add(tx, caller.accountId, "owner", keys);
  await outbox.append(tx, [audited(caller, { action: "image_signing_key.rotate", subject: key.id })]);
  return { outcome: "rotated", key } as const;
}

/** Deletes a key, which ends its URLs. The service makes itself a new one at the next signature. */
export async function deleteSigningKey(service: ImagesService, tx: Tx, caller: Caller, { key, keys }: LockedKey) {
  const { signingKeyStore, outbox } = service;
  const kept = keys.filter((one) => one !== key);
  await signingKeyStore.keep(tx, caller.accountId, keys, kept);
  await outbox.append(tx, [audited(caller, { action: "image_signing_key.delete", subject: key.id })]);
}

/** Returns true for a key whose secret the owner has. */
export const isOfOwner = (key: SigningKey): boolean => !isOfService(key);
