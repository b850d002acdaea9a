import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";

/** The next offset of each partition, by `topic/partition`. */
export type Positions = ReadonlyMap<string, bigint>;

const [nonceBytes, tagBytes] = [12, 16];
const algorithm = "aes-256-gcm";
const cursorLengthMax = 8_192;

/**
 * Encodes positions of a subscription. Sealed: offsets would reveal the traffic of others. Every instance must read the
 * cursors, so their key is derived from the shared secret.
 */
export class Cursors {
  readonly #secrets: () => readonly string[];
  // Key objects instead of bytes: for bytes Node throws and catches an exception first, and cursors are in every
  // message.
  readonly #keys = new Map<string, KeyObject>();

  constructor(secrets: () => readonly string[]) {
    this.#secrets = secrets;
  }

  seal(field: string, positions: Positions): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#keyOf(this.#secrets()[0] ?? ""), nonce).setAAD(Buffer.from(field));
    const sealed = [nonce, cipher.update(textOf(positions)), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat(sealed).toString("base64url");
  }

  /** Decodes a cursor; null when it is not one of this field. */
  open(field: string, cursor: string): Positions | null {
    if (cursor.length > cursorLengthMax) return null;
    const bytes = Buffer.from(cursor, "base64url");
    for (const secret of this.#secrets()) {
      const text = decrypted(bytes, this.#keyOf(secret), field);
      if (text !== null) return positionsIn(text);
    }
    return null;
  }

  #keyOf(secret: string): KeyObject {
    const known = this.#keys.get(secret);
    if (known) return known;
    const key = createSecretKey(new Uint8Array(hkdfSync("sha256", secret, "", "signalbox live cursor", 32)));
    this.#keys.set(secret, key);
    return key;
  }
}

/** Compact form `topic partition=offset partition=offset;…`, because cursors are in every message. */
function textOf(positions: Positions): string {
  const topics = Map.groupBy(positions, ([place]) => place.slice(0, place.lastIndexOf("/")));
  const parts = [...topics].map(([topic, places]) =>
    [topic, ...places.map(([place, offset]) => `${place.slice(topic.length + 1)}=${offset}`)].join(" "),
  );
  return parts.join(";");
}

function positionsIn(text: string): Positions {
  const positions = text.split(";").flatMap((part) => {
    const [topic, ...places] = part.split(" ");
    return places.map((place): [string, bigint] => {
      const [partition, offset = "0"] = place.split("=");
      return [`${topic}/${partition}`, BigInt(offset)];
    });
  });
  return new Map(positions);
}

function decrypted(bytes: Buffer, key: KeyObject, field: string): string | null {
  if (bytes.length <= nonceBytes + tagBytes) return null;
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes)).setAAD(Buffer.from(field));
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  try {
    return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
  } catch {
    return null;
  }
}
