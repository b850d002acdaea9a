import { displayName, draft, PasskeyResource, viewOf } from "@signalbox/contracts";
import { z } from "zod";

/** A passkey of a person: a key pair of a device, whose public half is known here (Web Authentication, level 3). */
export interface Passkey {
  readonly id: string;
  readonly accountId: string;
  /** The authenticator's id of the credential. */
  readonly credentialId: Buffer;
  readonly name: string;
  readonly publicKey: Buffer;
  /** The number of uses that the authenticator last counted; 0 for one that does not count. */
  readonly counter: bigint;
  /** The ways in which a browser can reach it, such as `internal` or `hybrid`. */
  readonly transports: readonly string[];
  /** True for one that is copied to the holder's other devices. */
  readonly synced: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

export const passkeysMax = 10;

/** Only the name of a passkey can change. */
export const PasskeyPatch = z.strictObject({ name: displayName.meta({ examples: ["Phone"] }) }).partial();

export const viewPasskey = viewOf(PasskeyResource, (_: Passkey) => ({}));

/** Events hold nothing of the key itself. */
export function passkeyEvent(
  name: `passkey.${"created" | "updated" | "deleted"}`,
  passkey: Passkey,
  changed: string[] = [],
) {
  const { id: subject, accountId } = passkey;
  return draft(name, { subject, accountId, data: { ...viewPasskey(passkey), changed } });
}
