import { createHmac, createPublicKey, timingSafeEqual, verify as verifySignature } from "node:crypto";
import type { SavedRequest } from "./saved-request.ts";

/** One step of a verification, in the order in which a receiver takes them. */
export interface Step {
  readonly name: "headers" | "time" | "secret" | "signature";
  readonly ok: boolean;
  readonly message: string;
}

interface VerifyTerms {
  readonly secrets: readonly string[];
  readonly atSeconds: number;
  readonly toleranceSeconds: number;
}

interface Signed {
  readonly id: string;
  readonly time: string;
  readonly signatures: readonly string[];
}

/** Verifies a request by Standard Webhooks. The first step that fails is the last one. */
export function verify(request: SavedRequest, terms: VerifyTerms): Step[] {
  const steps: Step[] = [];
  for (const step of [headersStep, timeStep, secretStep, signatureStep]) {
    const next = step(request, terms);
    steps.push(next);
    if (!next.ok) break;
  }
  return steps;
}

/** Names of the three headers; senders on Svix still use the second ones. */
const headerNames = (["id", "timestamp", "signature"] as const).map(
  (name) => [name, [`webhook-${name}`, `svix-${name}`]] as const,
);

function signedOf({ headers }: SavedRequest): Signed {
  const [id = "", time = "", signatures = ""] = headerNames.map(
    ([, names]) => names.map((name) => headers.get(name)).find(Boolean) ?? "",
  );
  return { id, time, signatures: signatures.split(" ").filter(Boolean) };
}

function headersStep(request: SavedRequest): Step {
  const { id, time, signatures } = signedOf(request);
  const present = [id !== "", time !== "", signatures.length > 0];
  const missing = headerNames.flatMap(([name], index) => (present[index] ? [] : [`webhook-${name}`]));
  const known = signatures.filter((one) => /^v1a?,/.test(one));
  if (missing.length > 0) return { name: "headers", ok: false, message: `Missing: ${missing.join(", ")}.` };
  if (known.length === 0) return { name: "headers", ok: false, message: "webhook-signature has no v1 and no v1a." };
  return { name: "headers", ok: true, message: `id ${id}, ${signatures.length} signatures` };
}

function timeStep(request: SavedRequest, { atSeconds, toleranceSeconds }: VerifyTerms): Step {
  const { time } = signedOf(request);
  const fail = (message: string): Step => ({ name: "time", ok: false, message });
  if (!/^\d{1,11}$/.test(time)) return fail(`Invalid webhook-timestamp "${time}": it must be a number of seconds.`);
  const ageSeconds = Math.round(atSeconds - Number(time));
  const sent = new Date(Number(time) * 1_000).toISOString();
  if (Math.abs(ageSeconds) <= toleranceSeconds) return { name: "time", ok: true, message: `sent ${sent}` };
  const away = ageSeconds > 0 ? `${ageSeconds} s before` : `${-ageSeconds} s after`;
  return fail(
    `Sent ${sent}, ${away} the time of the check; receivers allow ${toleranceSeconds} s. Use --at for its arrival time.`,
  );
}

type Key = { readonly kind: "v1"; readonly key: Buffer } | { readonly kind: "v1a"; readonly key: Buffer };

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
const publicKeyBytes = 32;

/** Reads a secret (`whsec_…`) or a public key (`whpk_…`); null for what is neither. */
function keyOf(secret: string): Key | null {
  const isPublic = secret.startsWith("whpk_");
  const text = secret.replace(/^wh(sec|pk)_/, "");
  if (!base64.test(text)) return null;
  const key = Buffer.from(text, "base64");
  if (isPublic) return key.length === publicKeyBytes ? { kind: "v1a", key } : null;
  return { kind: "v1", key };
}

function secretStep(_: SavedRequest, { secrets }: VerifyTerms): Step {
  const wrong = secrets.findIndex((secret) => keyOf(secret) === null);
  if (wrong < 0) return { name: "secret", ok: true, message: `${secrets.length} given` };
  const message = `Secret ${wrong + 1} is not whsec_ or whpk_ followed by base64. Was it cut off, or copied with a space?`;
  return { name: "secret", ok: false, message };
}

function signatureStep(request: SavedRequest, { secrets }: VerifyTerms): Step {
  const signed = signedOf(request);
  const keys = secrets.flatMap((secret) => keyOf(secret) ?? []);
  const fits = (body: Buffer, using = keys) => using.some((key) => isSignedBy(key, signed, body));
  if (fits(request.body)) {
    return { name: "signature", ok: true, message: `matches ${request.body.length} bytes of body` };
  }
  const hint =
    changedBodies(request.body).find(({ body }) => fits(body))?.message ?? wrongKey(secrets, fits, request.body);
  return { name: "signature", ok: false, message: hint };
}

function isSignedBy({ kind, key }: Key, { id, time, signatures }: Signed, body: Buffer): boolean {
  const content = Buffer.concat([Buffer.from(`${id}.${time}.`), body]);
  const given = signatures.flatMap((one) =>
    one.startsWith(`${kind},`) ? [Buffer.from(one.slice(kind.length + 1), "base64")] : [],
  );
  if (kind === "v1a") {
    const jwk = { kty: "OKP", crv: "Ed25519", x: key.toString("base64url") };
    const publicKey = createPublicKey({ key: jwk, format: "jwk" });
    return given.some((one) => verifySignature(null, content, publicKey, one));
  }
  const wanted = createHmac("sha256", key).update(content).digest();
  return given.some((one) => one.length === wanted.length && timingSafeEqual(one, wanted));
}

/** Bodies as they were before something changed them, with what changed them. */
function changedBodies(body: Buffer): { readonly body: Buffer; readonly message: string }[] {
  const text = body.toString("utf8");
  const changed = [
    [text.replace(/\r?\n$/, ""), "The body has a line end that was not signed: the tool that saved it added one."],
    [text.replaceAll("\r\n", "\n"), "The line ends of the body were changed to CRLF after signing."],
    [text.replace(/^\ufeff/, ""), "The body has a byte order mark that was not signed."],
    [compact(text), "The body was parsed and serialized again: verify the bytes before anything parses them."],
  ] as const;
  return changed.map(([before, message]) => ({ body: Buffer.from(before), message }));
}

function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Explains a signature that fits no body, by the usual mistakes with the secret. */
function wrongKey(secrets: readonly string[], fits: (body: Buffer, keys: Key[]) => boolean, body: Buffer): string {
  const asText = secrets.flatMap((secret): Key[] => [
    { kind: "v1", key: Buffer.from(secret) },
    { kind: "v1", key: Buffer.from(secret.replace(/^whsec_/, "")) },
  ]);
  if (fits(body, asText)) return "It was signed with the secret as text; decode what follows whsec_ as base64.";
  return "No signature matches: another secret, another endpoint's secret, or a body that was changed.";
}
