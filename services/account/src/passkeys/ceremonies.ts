import { createHmac, hkdfSync } from "node:crypto";
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { z } from "zod";
import type { AccountService } from "../context/account-service.ts";
import type { Passkey } from "./passkey.ts";

/** Loaded at the first ceremony: it brings parsers of certificates that most processes never need. */
const webauthn = () => import("@simplewebauthn/server");

interface Holder {
  readonly accountId: string;
  /** Shown by the authenticator. */
  readonly label: string;
  readonly known: readonly Passkey[];
}

export interface NewPasskey {
  readonly credentialId: Buffer;
  readonly publicKey: Buffer;
  readonly counter: bigint;
  readonly transports: readonly string[];
  readonly synced: boolean;
}

const timeoutMs = 300_000;
const text = z.string().min(1).max(16_384);
const transport = z.string().regex(/^[a-z-]{1,20}$/);
const common = { id: text, rawId: text, type: z.literal("public-key"), clientExtensionResults: z.object({}) };

/** The form in which a browser posts a passkey that it has made; other members are dropped. */
const Registration = z.object({
  ...common,
  response: z.object({
    clientDataJSON: text,
    attestationObject: text,
    transports: z.array(transport).max(8).default([]),
  }),
});

/** The form in which a browser posts a use of a passkey. */
const Assertion = z.object({
  ...common,
  response: z.object({
    clientDataJSON: text,
    authenticatorData: text,
    signature: text,
    userHandle: text.optional(),
  }),
});

/** A posted use of a passkey, unverified. */
export interface PresentedPasskey {
  readonly credentialId: Buffer;
  /** The account that the passkey was made for; null when the authenticator does not say it. */
  readonly accountId: string | null;
  readonly response: AuthenticationResponseJSON;
}

/** The party that passkeys are made for and used at: the host of the deployment's public address. */
function partyOf({ configuration }: AccountService) {
  const { hostname: rpID, origin, protocol } = new URL(configuration.get("http.base-url"));
  return { rpID, origin, protocol };
}

/** False where browsers allow no passkeys: at an IP address, and without TLS elsewhere than on this machine. */
export function isPasskeyPossible(service: AccountService): boolean {
  const { rpID, protocol } = partyOf(service);
  return /[a-z]/i.test(rpID) && !rpID.includes(":") && (protocol === "https:" || rpID === "localhost");
}

/**
 * The challenge of a ceremony: a signature over what it belongs to, so that nothing is stored until it succeeds. What a
 * response proves, it proves to this deployment's origin alone.
 */
function challengeOf({ configuration }: AccountService, belongsTo: string): string {
  const [sealingKey = ""] = configuration.get("secrets.keys");
  const key = Buffer.from(hkdfSync("sha256", sealingKey, "", "signalbox account passkey challenges", 32));
  return createHmac("sha256", key).update(`passkey challenge ${belongsTo}`).digest("base64url");
}

/** The options for a new passkey, which knows its holder and verifies them. */
export async function creationOptions(
  service: AccountService,
  belongsTo: string,
  { accountId, label, known }: Holder,
): Promise<object> {
  const { generateRegistrationOptions } = await webauthn();
  return generateRegistrationOptions({
    rpName: service.configuration.get("server.name"),
    rpID: partyOf(service).rpID,
    userID: new Uint8Array(Buffer.from(accountId)),
    userName: label,
    userDisplayName: label,
    challenge: new Uint8Array(Buffer.from(challengeOf(service, belongsTo), "base64url")),
    timeout: timeoutMs,
    attestationType: "none",
    excludeCredentials: known.map(({ credentialId }) => ({ id: credentialId.toString("base64url") })),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
}

/** Verifies a new passkey; null for anything else. */
export async function verifyNewPasskey(
  service: AccountService,
  belongsTo: string,
  posted: string,
): Promise<NewPasskey | null> {
  const response = parsed(Registration, posted) as RegistrationResponseJSON | null;
  if (!response) return null;
  const { verifyRegistrationResponse } = await webauthn();
  const { rpID, origin } = partyOf(service);
  const result = await verifyRegistrationResponse({
    response,
    expectedChallenge: challengeOf(service, belongsTo),
    expectedOrigin: origin,
    expectedRPID: rpID,
    requireUserVerification: true,
  }).catch(() => null);
  if (!result?.verified) return null;
  const { credential, credentialBackedUp: synced } = result.registrationInfo;
  return {
    credentialId: Buffer.from(credential.id, "base64url"),
    publicKey: Buffer.from(credential.publicKey),
    counter: BigInt(credential.counter),
    transports: response.response.transports ?? [],
    synced,
  };
}

/** The options for a sign-in: the person chooses among the passkeys of this deployment, without typing an address. */
export const requestOptions = (service: AccountService, belongsTo: string): object => ({
  challenge: challengeOf(service, belongsTo),
  rpId: partyOf(service).rpID,
  timeout: timeoutMs,
  userVerification: "required",
});

/** Reads a posted use of a passkey; null for anything else. */
export function readPresentedPasskey(posted: string): PresentedPasskey | null {
  const response = parsed(Assertion, posted) as AuthenticationResponseJSON | null;
  if (!response) return null;
  const { userHandle } = response.response;
  const accountId = userHandle === undefined ? null : Buffer.from(userHandle, "base64url").toString();
  return { credentialId: Buffer.from(response.id, "base64url"), accountId, response };
}

/** Returns the counter of a verified use; null for one that is not this passkey's, or not for this ceremony. */
export async function verifyPasskeyUse(
  service: AccountService,
  belongsTo: string,
  { response }: PresentedPasskey,
  passkey: Passkey,
): Promise<number | null> {
  const { verifyAuthenticationResponse } = await webauthn();
  const { rpID, origin } = partyOf(service);
  const { credentialId, publicKey } = passkey;
  const result = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challengeOf(service, belongsTo),
    expectedOrigin: origin,
    expectedRPID: rpID,
    requireUserVerification: true,
    // The store judges the counter, in the statement that raises it.
    credential: { id: credentialId.toString("base64url"), publicKey: new Uint8Array(publicKey), counter: 0 },
  }).catch(() => null);
  return result?.verified ? result.authenticationInfo.newCounter : null;
}

function parsed(schema: z.ZodType, posted: string): unknown {
  try {
    const { success, data } = schema.safeParse(JSON.parse(posted));
    return success ? data : null;
  } catch {
    return null;
  }
}
