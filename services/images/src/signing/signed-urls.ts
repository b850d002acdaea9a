import type { Caller } from "@signalbox/auth";
import { hours } from "@signalbox/core";
import { audited } from "@signalbox/service";
import { inTransaction, olderAfter, type Tx } from "@signalbox/storage";
import type { ImagesService } from "../context/images-service.ts";
import { trackingParameters } from "../state/content-query.ts";
import { versionOf } from "../state/image.ts";
import {
  expiryOf,
  isSignedBy,
  queryOf,
  readSignature,
  sign,
  signatureParameter,
  type ValidSignature,
} from "../state/signature.ts";

type Signed =
  | { readonly outcome: "signed"; readonly url: string; readonly expiresAt: Date }
  | { readonly outcome: "switched-off" }
  | { readonly outcome: "missing" };

/** The verdict on the signature of a request for content. */
export type SignatureVerdict =
  | ValidSignature
  | { readonly outcome: "switched-off" }
  | { readonly outcome: "expired" }
  | { readonly outcome: "invalid" };

/**
 * Signs a URL that shows an image with these parameters to everyone, until it expires; a parameter without a value is
 * left out. It grants access, so there is none without an audit entry.
 */
export async function signImageUrl(
  service: ImagesService,
  caller: Caller,
  imageId: string,
  parameters: Readonly<Record<string, unknown>>,
  livesSeconds: number,
): Promise<Signed> {
  const { configuration, pool, outbox, imageStore, signingKeyStore, clock } = service;
  if (!isOffered(service)) return { outcome: "switched-off" };
  const image = await imageStore.findOwn(caller.accountId, imageId);
  if (!image) return { outcome: "missing" };
  const key = await signingKeyStore.forSigning(image.accountId);
  const given = Object.entries({ ...parameters, v: versionOf(image) }).filter(([, value]) => value !== undefined);
  const grant = {
    imageId,
    parameters: new Map(given.map(([name, value]) => [name, `${value}`])),
    expiresAt: expiryOf(clock.nowMs(), livesSeconds),
  };
  const entry = audited(caller, { action: "image.sign_url", subject: imageId });
  await inTransaction(pool, (tx) => outbox.append(tx, [entry]));
  const query = `${queryOf(grant.parameters)}&${signatureParameter}=${sign(key, grant)}`;
  const url = `${configuration.get("http.base-url")}/images/${imageId}/content?${query}`;
  return { outcome: "signed", url, expiresAt: new Date(grant.expiresAt * 1000) };
}

/** Judges the signature of a request. `query` is its raw query. */
export async function judgeSignature(
  service: ImagesService,
  imageId: string,
  text: string,
  query: string,
): Promise<SignatureVerdict> {
  if (!isOffered(service)) return { outcome: "switched-off" };
  const read = readSignature(text);
  const key = read && (await service.signingKeyStore.find(read.keyId));
  if (!read || !key) return { outcome: "invalid" };
  const { expiresAt } = read;
  const isMeant = (name: string) => name !== signatureParameter && !trackingParameters.test(name);
  const parameters = new Map([...new URLSearchParams(query)].filter(([name]) => isMeant(name)));
  if (!isSignedBy(key, read, { imageId, parameters, expiresAt })) return { outcome: "invalid" };
  const secondsLeft = secondsUntil(service, expiresAt);
  if (secondsLeft <= 0) return { outcome: "expired" };
  return { outcome: "valid", accountId: key.accountId, secondsLeft, key, expiresAt };
}

/** Returns the seconds that a valid signature has left; 0 when it has to be judged again. */
export function signatureSecondsLeft(service: ImagesService, { key, expiresAt }: ValidSignature): number {
  if (!isOffered(service) || !service.signingKeyStore.isCurrent(key)) return 0;
  return Math.max(0, secondsUntil(service, expiresAt));
}

const isOffered = ({ configuration }: ImagesService): boolean => configuration.get("capabilities.signedUrls");

const secondsUntil = ({ clock }: ImagesService, expiresAt: number): number =>
  Math.floor(expiresAt - clock.nowMs() / 1000);

/** The signing key and the previous one, whose URLs stay valid. */
const liveMax = 2;
/** Every URL that a key signed has expired by then: it lives for a week, and up to a day is added. */
const longestOverlapMs = hours(8 * 24);

/**
 * Rotates an account's key, and returns the new one and the older ones. URLs of the previous key stay valid until they
 * expire, the overlap ends or the next rotation; those of older keys end now, so no limit refuses a rotation.
 */
export async function rotateSigningKey(service: ImagesService, tx: Tx, caller: Caller, overlapMs = longestOverlapMs) {
  const { signingKeyStore, outbox, clock } = service;
  const keys = await signingKeyStore.lock(tx, caller.accountId);
  const older = olderAfter(keys, { overlapMs, now: clock.now() }).slice(0, liveMax - 1);
  const key = await signingKeyStore.replace(tx, caller.accountId, keys, older);
  await outbox.append(tx, [audited(caller, { action: "image.rotate_signing_key" })]);
  return { key, older };
}
