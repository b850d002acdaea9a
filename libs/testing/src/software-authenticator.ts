import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** Departures from what a browser and a device do, for forgeries. */
interface Forgery {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  /** Flags of the authenticator data: 1 for presence, 4 for verification of the person. */
  readonly flags?: number;
  readonly counter?: number;
  readonly userHandle?: string;
  readonly crossOrigin?: boolean;
  /** Signs with a key that is not the passkey's. */
  readonly otherKey?: boolean;
}

interface Options {
  readonly challenge: string;
  readonly rp?: { readonly id?: string };
  readonly rpId?: string;
  readonly user?: { readonly id: string };
}

const present = 0x01;
const verified = 0x04;
const attested = 0x40;

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest();
const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

/**
 * A passkey in software: it answers the options of a page as a browser with a device would (Web Authentication, level
 * 3), and as an attacker would, who can write everything but the signature.
 */
export function createSoftwareAuthenticator(origin: string) {
  const id = randomBytes(32);
  const key = newKey();
  let counter = 0;
  let userHandle = "";

  function clientData(type: string, { challenge }: Options, forgery: Forgery): Buffer {
    const data = {
      type: forgery.type ?? type,
      challenge: forgery.challenge ?? challenge,
      origin: forgery.origin ?? origin,
      crossOrigin: forgery.crossOrigin ?? false,
    };
    return Buffer.from(JSON.stringify(data));
  }

  function authenticatorData(rpId: string, more: number, forgery: Forgery, rest = Buffer.alloc(0)): Buffer {
    const head = Buffer.alloc(5);
    head.writeUInt8((forgery.flags ?? present | verified) | more, 0);
    head.writeUInt32BE(forgery.counter ?? ++counter, 1);
    return Buffer.concat([sha256(forgery.rpId ?? rpId), head, rest]);
  }

  const answer = (response: Readonly<Record<string, string | undefined>>) => {
    const text = id.toString("base64url");
    return JSON.stringify({ id: text, rawId: text, type: "public-key", clientExtensionResults: {}, response });
  };

  return {
    /** Makes the passkey, without an attestation. */
    create(options: Options, forgery: Forgery = {}): string {
      userHandle = options.user?.id ?? "";
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const credential = Buffer.concat([Buffer.alloc(16), length, id, coseOf(key.publicKey.export({ format: "jwk" }))]);
      const data = authenticatorData(options.rp?.id ?? "", attested, forgery, credential);
      const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
      const size = Buffer.from([0x58, data.length]);
      const parts = [text("fmt"), text("none"), text("attStmt"), Buffer.from([0xa0]), text("authData"), size, data];
      return answer({
        clientDataJSON: clientData("webauthn.create", options, forgery).toString("base64url"),
        attestationObject: Buffer.concat([Buffer.from([0xa3]), ...parts]).toString("base64url"),
      });
    },

    /** Uses the passkey. */
    use(options: Options, forgery: Forgery = {}): string {
      const data = authenticatorData(options.rpId ?? "", 0, forgery);
      const client = clientData("webauthn.get", options, forgery);
      const { privateKey } = forgery.otherKey ? newKey() : key;
      return answer({
        clientDataJSON: client.toString("base64url"),
        authenticatorData: data.toString("base64url"),
        signature: sign("sha256", Buffer.concat([data, sha256(client)]), privateKey).toString("base64url"),
        userHandle: forgery.userHandle ?? userHandle,
      });
    },
  };
}

/** A public key on P-256 as COSE writes it (RFC 9053 §2.1). */
function coseOf({ x = "", y = "" }: { readonly x?: string; readonly y?: string }): Buffer {
  const coordinate = (text: string) => Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(text, "base64url")]);
  const head = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01]);
  return Buffer.concat([head, Buffer.from([0x21]), coordinate(x), Buffer.from([0x22]), coordinate(y)]);
}

/** Reads the options of a page's form, which its script would read. */
export function passkeyOptionsOf(page: { readonly text: string }): Options {
  const [, text = ""] = /data-options="([^"]*)"/.exec(page.text) ?? [];
  const plain = text.replace(/&(quot|amp|lt|gt|#39);/g, (_, name: string) => entities[name] ?? "");
  return JSON.parse(plain) as Options;
}

const entities: Readonly<Record<string, string>> = { quot: '"', amp: "&", lt: "<", gt: ">", "#39": "'" };
