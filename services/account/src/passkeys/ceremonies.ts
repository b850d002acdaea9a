import { createHmac, hkdfSync } from "node:crypto";
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { z } from "zod";
import type { Passkey } from "./passkey.ts";

/** Loaded at the first ceremony: it brings parsers of certificates that most processes never need. */
const webauthn = () => import("@simplewebauthn/server");

export type Ceremonies = ReturnType<typeof createCeremonies>;

interface Settings {
  /** The public address of the deployment, whose host is the relying party. */
  readonly baseUrl: string;
  readonly serverName: () => string;
  /** `secrets.keys`: the first one signs the challenges. */
  readonly keys: readonly string[];
}

/** The holder of a new passkey. */
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

/**
 * The two ceremonies of Web Authentication. Challenges are signatures over what a ceremony belongs to, so that nothing
 * is stored until it succeeds; what a response proves, it proves to this deployment's origin alone.
 */
export function createCeremonies({ baseUrl, serverName, keys }: Settings) {
  const key = Buffer.from(hkdfSync("sha256", keys[0] ?? "", "", "signalbox account passkey challenges", 32));
  const { hostname: rpID, origin, protocol } = new URL(baseUrl);
  const challengeOf = (belongsTo: string): string =>
    createHmac("sha256", key).update(`passkey challenge ${belongsTo}`).digest("base64url");
  const party = { rpID, origin, serverName, challengeOf };
  return {
    /** False where browsers allow no passkeys: at an IP address, and without TLS elsewhere than on this machine. */
    isPossible: /[a-z]/i.test(rpID) && !rpID.includes(":") && (protocol === "https:" || rpID === "localhost"),
    ...creation(party),
    ...use(party),
  };
}

/** The party that passkeys are made for and used at. */
interface RelyingParty extends Pick<Settings, "serverName"> {
  readonly rpID: string;
  readonly origin: string;
  readonly challengeOf: (belongsTo: string) => string;
}

/** The ceremony that makes a passkey. */
function creation({ rpID, origin, serverName, challengeOf }: RelyingParty) {
  return {
    /** The options for a new passkey, which knows its holder and verifies them. */
    async creationOptions(belongsTo: string, { accountId, label, known }: Holder): Promise<object> {
      const { generateRegistrationOptions } = await webauthn();
      return generateRegistrationOptions({
        rpName: serverName(),
        rpID,
        userID: new Uint8Array(Buffer.from(accountId)),
        userName: label,
        userDisplayName: label,
        challenge: new Uint8Array(Buffer.from(challengeOf(belongsTo), "base64url")),
        timeout: timeoutMs,
        attestationType: "none",
        excludeCredentials: known.map(({ credentialId }) => ({ id: credentialId.toString("base64url") })),
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
      });
    },

    /** Verifies a new passkey; null for anything else. */
    async verifyNew(belongsTo: string, posted: string): Promise<NewPasskey | null> {
      const response = parsed(Registration, posted) as RegistrationResponseJSON | null;
      if (!response) return null;
      const { verifyRegistrationResponse } = await webauthn();
      const expectedChallenge = challengeOf(belongsTo);
      const result = await verifyRegistrationResponse({
        response,
        expectedChallenge,
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
    },
  };
}

/** The ceremony that uses a passkey. */
function use({ rpID, origin, challengeOf }: RelyingParty) {
  return {
    /** The options for a sign-in: the person chooses among the passkeys of this deployment, without typing an address. */
    requestOptions: (belongsTo: string): object => ({
      challenge: challengeOf(belongsTo),
      rpId: rpID,
      timeout: timeoutMs,
      userVerification: "required",
    }),

    /** Reads a posted use of a passkey; null for anything else. */
    read(posted: string): PresentedPasskey | null {
      const response = parsed(Assertion, posted) as AuthenticationResponseJSON | null;
      if (!response) return null;
      const { userHandle } = response.response;
      const accountId = userHandle === undefined ? null : Buffer.from(userHandle, "base64url").toString();
      return { credentialId: Buffer.from(response.id, "base64url"), accountId, response };
    },

    /** Returns the counter of a verified use; null for one that is not this passkey's, or not for this ceremony. */
    async verifyUse(belongsTo: string, { response }: PresentedPasskey, passkey: Passkey): Promise<number | null> {
      const { verifyAuthenticationResponse } = await webauthn();
      const { credentialId, publicKey } = passkey;
      const result = await verifyAuthenticationResponse({
        response,
        expectedChallenge: challengeOf(belongsTo),
        expectedOrigin: origin,
        expectedRPID: rpID,
        requireUserVerification: true,
        // The store judges the counter, in the statement that raises it.
        credential: { id: credentialId.toString("base64url"), publicKey: new Uint8Array(publicKey), counter: 0 },
      }).catch(() => null);
      return result?.verified ? result.authenticationInfo.newCounter : null;
    },
  };
}

function parsed(schema: z.ZodType, posted: string): unknown {
  try {
    const { success, data } = schema.safeParse(JSON.parse(posted));
    return success ? data : null;
  } catch {
    return null;
  }
}
