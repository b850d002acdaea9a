import type { Caller } from "@signalbox/auth";
import { hours } from "@signalbox/core";
import { audited } from "@signalbox/service";
import { olderAfter, type Tx } from "@signalbox/storage";
import type { ImagesService } from "../images-service.ts";
import type { LiveKey } from "./signature.ts";

interface Rotated {
  readonly key: LiveKey;
  readonly older: readonly LiveKey[];
}

/** The signing key and the previous one, whose URLs stay valid. */
const liveMax = 2;
/** Every URL that a key signed has expired by then: it lives for a week, and up to a day is added. */
const longestOverlapMs = hours(8 * 24);

/**
 * Rotates an account's key, and returns the new one and the older ones. URLs of the previous key stay valid until they
 * expire, the overlap ends or the next rotation; those of older keys end now, so no limit refuses a rotation.
 */
export async function rotateSigningKey(
  service: ImagesService,
  tx: Tx,
  caller: Caller,
  overlapMs = longestOverlapMs,
): Promise<Rotated> {
  const { signingKeyStore, outbox, clock } = service;
  const keys = await signingKeyStore.lock(tx, caller.accountId);
  const older = olderAfter(keys, { overlapMs, now: clock.now() }).slice(0, liveMax - 1);
  const key = await signingKeyStore.replace(tx, caller.accountId, keys, older);
  await outbox.append(tx, [audited(caller, { action: "image.rotate_signing_key" })]);
  return { key, older };
}
