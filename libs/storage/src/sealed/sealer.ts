import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from "node:crypto";

/** Service, table and row of a sealed text. It opens nowhere else, so a text copied into another row is useless. */
export interface SealedPlace {
  readonly service: string;
  readonly table: string;
  readonly row: string;
}

/** AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce per text: `v1.<key id>.<nonce>.<ciphertext and tag>`, base64url. */
export interface Sealer {
  seal(plain: Uint8Array | string, place: SealedPlace): string;
  /** Throws `SealError` when the text is malformed, was changed, belongs to another place, or its key is missing. */
  open(sealed: string, place: SealedPlace): Buffer;
  /** The id of the key that sealed the text. */
  keyId(sealed: string): string;
  /** The id of the first key. */
  readonly writingKeyId: string;
  /** Returns the text resealed with the first key; null when the first key has sealed it already. */
  reseal(sealed: string, place: SealedPlace): string | null;
}

/**
 * The one answer to a sealed text that does not open. It does not say which check failed, so that an attacker learns
 * nothing.
 */
export class SealError extends Error {
  override readonly name = "SealError";
}

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;
const form = /^v1\.([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,})$/;

/** Creates a sealer from `<id>:<32 bytes in base64>` keys: the first one seals, all of them open. */
export function createSealer(keys: readonly string[]): Sealer {
  const { writing, byId } = parseKeys(keys);

  const seal = (plain: Uint8Array | string, place: SealedPlace): string => {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, writing.key, nonce).setAAD(additionalData(place));
    const text = Buffer.concat([cipher.update(Buffer.from(plain)), cipher.final(), cipher.getAuthTag()]);
    return `v1.${writing.id}.${nonce.toString("base64url")}.${text.toString("base64url")}`;
  };

  const open = (sealed: string, place: SealedPlace): Buffer => {
    const { id, nonce, text } = parse(sealed, place);
    const key = byId.get(id);
    if (!key) throw refusal(place);
    try {
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
        .setAAD(additionalData(place))
        .setAuthTag(text.subarray(-tagBytes));
      return Buffer.concat([decipher.update(text.subarray(0, -tagBytes)), decipher.final()]);
    } catch {
      throw refusal(place);
    }
  };

  return {
    seal,
    open,
    keyId: (sealed) => parse(sealed).id,
    writingKeyId: writing.id,
    reseal: (sealed, place) => (parse(sealed, place).id === writing.id ? null : seal(open(sealed, place), place)),
  };
}

function parse(sealed: string, place?: SealedPlace): { id: string; nonce: Buffer; text: Buffer } {
  const [, id, nonce, text] = form.exec(sealed) ?? [];
  if (id === undefined || nonce === undefined || text === undefined) throw refusal(place);
  const parsed = { id, nonce: Buffer.from(nonce, "base64url"), text: Buffer.from(text, "base64url") };
  // The last character of base64 has bits that decoding drops: only the canonical text is accepted.
  if (parsed.text.toString("base64url") !== text) throw refusal(place);
  return parsed;
}

/** JSON keeps the parts apart: ("a", "bc") and ("ab", "c") must differ. */
const additionalData = ({ service, table, row }: SealedPlace): Buffer =>
  Buffer.from(JSON.stringify([service, table, row]));

const refusal = (place?: SealedPlace): SealError =>
  new SealError(
    place
      ? `the sealed text of ${place.service}/${place.table}/${place.row} cannot be opened with the keys given`
      : "this is not a sealed text",
  );

interface SealingKey {
  readonly id: string;
  /** A KeyObject, because a key as bytes costs Node an exception at each use. */
  readonly key: KeyObject;
}

const keyForm = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_-]{43}=?)$/;

/** Parses `<id>:<32 bytes in base64>` keys. The message of a refusal never shows key material. */
function parseKeys(keys: readonly string[]): { writing: SealingKey; byId: ReadonlyMap<string, KeyObject> } {
  const parsed = keys.map(parseKey);
  const [writing] = parsed;
  if (!writing) throw new Error("secrets.keys is empty: at least one key is needed to seal secrets");
  const byId = new Map(parsed.map(({ id, key }) => [id, key]));
  if (byId.size < parsed.length) throw new Error("secrets.keys has a duplicate key id");
  return { writing, byId };
}

function parseKey(text: string, position: number): SealingKey {
  const [, id, encoded] = keyForm.exec(text) ?? [];
  if (id === undefined || encoded === undefined) {
    throw new Error(`key ${position + 1} of secrets.keys is not of the form <id>:<32 bytes in base64>`);
  }
  return { id, key: createSecretKey(encoded, "base64") };
}
