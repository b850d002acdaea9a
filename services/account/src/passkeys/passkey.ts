import { displayName, examples, identifier, timestamp } from "@signalbox/contracts";
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

/** The most passkeys of an account. */
export const passkeysMax = 10;

export const PasskeyResource = z
  .object({
    id: identifier("The passkey"),
    name: z.string().describe("The name that its holder gave it."),
    synced: z.boolean().describe("True when it is copied to the holder's other devices."),
    created_at: timestamp.describe("The time at which it was added."),
    last_used_at: timestamp.nullable().describe("The time of its last sign-in; null before the first."),
  })
  .meta({ id: "Passkey", description: "A passkey that signs its holder in, without its key." });

export const passkeyExample: z.output<typeof PasskeyResource> = {
  id: "psk_8Vt3Kq1XfLcW5bRyNpJhdZ",
  name: "Phone",
  synced: true,
  created_at: "2026-01-01T09:00:00.000Z",
  last_used_at: null,
};

examples.add(PasskeyResource, { example: passkeyExample });

/** Only the name of a passkey can change. */
export const PasskeyPatch = z.strictObject({ name: displayName.meta({ examples: ["Phone"] }) }).partial();

/** Shows a passkey to its holder. */
export const viewPasskey = (passkey: Passkey): z.output<typeof PasskeyResource> => ({
  id: passkey.id,
  name: passkey.name,
  synced: passkey.synced,
  created_at: passkey.createdAt.toISOString(),
  last_used_at: passkey.lastUsedAt?.toISOString() ?? null,
});
