import { type KeyObject, X509Certificate } from "node:crypto";
import { readBase64, readHex } from "./digest.ts";

/** Demands on the chain of certificates that a token brings along (`x5c`, RFC 7515 §4.1.6). */
interface ChainPolicy {
  /** SHA-256 of each root that may end a chain, as `readFingerprint` returns it. */
  readonly roots: readonly string[];
  /** Object identifiers of extensions: the first one of the signer, the second one of its authority. */
  readonly certificateOids: readonly string[];
  readonly nowSeconds: number;
}

/** The signer, its authority and the root. Every chain of the App Store has three, and none needs more. */
const chainLength = 3;
/** Certificates of the App Store have about a kilobyte. */
const textLengthMax = 8_192;

/** Reads the SHA-256 of a certificate in hexadecimal, with or without colons; null for any other text. */
export function readFingerprint(text: string): string | null {
  const bytes = readHex(text.replaceAll(":", ""));
  return bytes?.length === 32 ? bytes.toString("hex") : null;
}

/** Returns the signer's key of a valid chain to a known root, or the reason why there is none. */
export function keyOfChain(
  chain: unknown,
  { roots, certificateOids, nowSeconds }: ChainPolicy,
): KeyObject | "certificate_not_allowed" | "certificate_unusable" {
  const certificates = readChain(chain);
  const [signer, authority, root] = certificates ?? [];
  if (!certificates || !signer || !authority || !root) return "certificate_unusable";
  const isWithin = ({ validFromDate, validToDate }: X509Certificate) =>
    validFromDate.getTime() <= nowSeconds * 1_000 && nowSeconds * 1_000 <= validToDate.getTime();
  if (!certificates.every(isWithin)) return "certificate_unusable";
  const isIssued = [signer, authority].every((one, at) => isIssuedBy(one, certificates[at + 1] ?? root));
  const isMarked = certificateOids.every((oid, at) => extensionsOf(certificates[at] ?? root).includes(oid));
  const isKnown = roots.includes(root.fingerprint256.replaceAll(":", "").toLowerCase());
  return isKnown && isIssued && isMarked ? signer.publicKey : "certificate_not_allowed";
}

function readChain(chain: unknown): readonly X509Certificate[] | null {
  if (!Array.isArray(chain) || chain.length !== chainLength) return null;
  try {
    return chain.map((text: unknown) => {
      const der = typeof text === "string" && text.length <= textLengthMax ? readBase64(text) : null;
      return new X509Certificate(der ?? "");
    });
  } catch {
    return null;
  }
}

const isIssuedBy = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);

/** Tags of DER (X.690 §8): an object identifier, and the extensions of a certificate (RFC 5280 §4.1). */
const [oidTag, extensionsTag] = [0x06, 0xa3];

/** Lists the object identifiers of a certificate's extensions, which Node does not show. */
function extensionsOf({ raw }: X509Certificate): readonly string[] {
  const inside = (der: Buffer | undefined) => [...itemsIn(der ?? Buffer.alloc(0))].map(({ content }) => content);
  const [certificate] = inside(raw);
  const [signed] = inside(certificate);
  const extensions = [...itemsIn(signed ?? raw)].find(({ tag }) => tag === extensionsTag);
  const [list] = inside(extensions?.content);
  return inside(list).flatMap((extension) =>
    [...itemsIn(extension)].filter(({ tag }) => tag === oidTag).map(({ content }) => dotted(content)),
  );
}

/** Walks the items of DER that OpenSSL has written. */
function* itemsIn(der: Buffer): Generator<{ readonly tag: number; readonly content: Buffer }> {
  for (let at = 0; at + 1 < der.length; ) {
    const first = der.readUInt8(at + 1);
    const lengthBytes = first < 0x80 ? 0 : first - 0x80;
    const length = lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes);
    const start = at + 2 + lengthBytes;
    yield { tag: der.readUInt8(at), content: der.subarray(start, start + length) };
    at = start + length;
  }
}

/** Writes an object identifier as text (X.690 §8.19). */
function dotted(der: Buffer): string {
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of der) {
    arc = arc * 128 + (byte % 128);
    if (byte >= 128) continue;
    arcs.push(arc);
    arc = 0;
  }
  const [first = 0, ...rest] = arcs;
  const top = Math.min(2, Math.floor(first / 40));
  return [top, first - top * 40, ...rest].join(".");
}
