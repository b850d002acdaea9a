import { createHash, createHmac } from "node:crypto";
import {
  honestSigning,
  type PartnerScheme,
  partnerSchemes,
  type SignedRequest,
  type Signing,
  signed,
} from "./signed-requests.ts";

type Mutate = (honest: Signing, scheme: PartnerScheme) => SignedRequest;

/** The honest request with another body than the signed one. */
const otherBody =
  (change: (body: Buffer) => Buffer): Mutate =>
  (honest, scheme) => {
    const request = signed(scheme, honest);
    return { ...request, body: change(request.body) };
  };

/** Signed without the partner's secret. */
const signedAs =
  (change: (honest: Signing) => Partial<Signing>): Mutate =>
  (honest, scheme) => ({
    headers: scheme.sign({ ...honest, ...change(honest) }),
    body: honest.body,
  });

/** The honest request with another text in the signature header; without the header when it is null. */
const otherSignature =
  (change: (signature: string, honest: Signing) => string | null): Mutate =>
  (honest, scheme) => {
    const { headers, body } = signed(scheme, honest);
    const { [scheme.signatureHeader]: right = "", ...rest } = headers;
    const text = change(right, honest);
    return { headers: text === null ? rest : { ...rest, [scheme.signatureHeader]: text }, body };
  };

/** Finds the digest within the header. */
const digestOf = (signature: string): string => /[A-Za-z0-9+/]{40,}={0,2}$/.exec(signature)?.[0] ?? "";
const withDigest = (change: (digest: string, honest: Signing) => string): Mutate =>
  otherSignature((signature, honest) =>
    signature.replace(digestOf(signature), () => change(digestOf(signature), honest)),
  );
const flipped = (text: string, at: number): string => {
  const index = at < 0 ? text.length + at : at;
  return text.slice(0, index) + (text[index] === "a" ? "b" : "a") + text.slice(index + 1);
};
const hex = (hash: string, secret: string | null, body: Buffer): string =>
  (secret === null ? createHash(hash) : createHmac(hash, secret)).update(body).digest("hex");

/** Bodies that differ from the signed one. */
const bodies: Readonly<Record<string, Mutate>> = {
  "a body with one bit changed": otherBody((body) => Buffer.from(body.map((byte, at) => (at === 5 ? byte ^ 1 : byte)))),
  "a body with a line break behind it": otherBody((body) => Buffer.concat([body, Buffer.from("\n")])),
  "a body with a space before it": otherBody((body) => Buffer.concat([Buffer.from(" "), body])),
  "a body with a byte order mark": otherBody((body) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body])),
  "a body that stops": otherBody((body) => body.subarray(0, -1)),
  "no body": otherBody(() => Buffer.alloc(0)),
  "the same JSON in other white space": otherBody((body) =>
    Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1)),
  ),
  "a member repeated at the end": otherBody((body) =>
    Buffer.concat([body.subarray(0, -1), Buffer.from(',"amount":1000000}')]),
  ),
  "another spelling of a letter": otherBody((body) => Buffer.from(body.toString().replace("ü", "\\u00fc"))),
  "a letter composed in another way": otherBody((body) => Buffer.from(body.toString().normalize("NFD"))),
  "the body twice": otherBody((body) => Buffer.concat([body, body])),
  "the signature of an empty body": signedAs(() => ({ body: Buffer.alloc(0) })),
  "the signature of another body": signedAs(() => ({ body: Buffer.from("{}") })),
  "the secret itself": withDigest((_digest, { secret }) => secret),
};

/** Wrong signatures in every scheme. */
const always: Readonly<Record<string, Mutate>> = {
  "a wrong secret": signedAs(() => ({ secret: "d2hhdGV2ZXIgaXQgaXMsIGl0IGlzIHdyb25n" })),
  "an empty secret": signedAs(() => ({ secret: "" })),
  "the secret in capitals": signedAs(({ secret }) => ({ secret: secret.toUpperCase().replace("WHSEC_", "whsec_") })),
  "the secret without its last character": signedAs(({ secret }) => ({ secret: secret.slice(0, -2) })),
  "the secret null": signedAs(() => ({ secret: "null" })),
  "the secret undefined": signedAs(() => ({ secret: "undefined" })),
  "no signature": otherSignature(() => null),
  "an empty signature": otherSignature(() => ""),
  "a space as signature": otherSignature(() => " "),
  "half a signature": otherSignature((signature) => signature.slice(0, -20)),
  "a signature of one character": otherSignature((signature) => signature.slice(0, -digestOf(signature).length + 1)),
  "a prefix without a digest": otherSignature((signature) => signature.slice(0, -digestOf(signature).length)),
  "a digest with its first character changed": withDigest((digest) => flipped(digest, 0)),
  "a digest with its tenth character changed": withDigest((digest) => flipped(digest, 10)),
  "a digest that goes on": withDigest((digest) => `${digest}00`),
  "a digest of zeros": withDigest((digest) => "0".repeat(digest.length)),
  "a digest of another alphabet": withDigest((digest) => "é".repeat(digest.length).replaceAll("é", "~")),
  "the words true and null": withDigest(() => "true null undefined"),
  "a plain SHA-256 of the body": withDigest((_digest, { body }) => hex("sha256", null, body)),
  "an HMAC-SHA-1": withDigest((_digest, { secret, body }) => hex("sha1", secret, body)),
  "an HMAC-MD5": withDigest((_digest, { secret, body }) => hex("md5", secret, body)),
  "a thousand wrong digests": otherSignature((signature) => `${`${signature.slice(0, -4)}AAAA `.repeat(50)}`.trim()),
};

const minutes = (count: number) => (honest: Signing) => String(Number(honest.seconds) + count * 60);

/** Signed times that are out of range. */
const times: Readonly<Record<string, (honest: Signing) => string>> = {
  "six minutes ago": minutes(-6),
  "in six minutes": minutes(6),
  "a year ago": minutes(-525_600),
  "the beginning of time": () => "0",
  "in milliseconds": ({ seconds }) => `${seconds}000`,
  negative: ({ seconds }) => `-${seconds}`,
  "with a plus": ({ seconds }) => `+${seconds}`,
  "with a fraction": ({ seconds }) => `${seconds}.0`,
  hexadecimal: ({ seconds }) => `0x${Number(seconds).toString(16)}`,
  "as a date": () => new Date().toISOString(),
  "with a word behind it": ({ seconds }) => `${seconds}x`,
  "not a number": () => "NaN",
  endless: () => "9".repeat(400),
};

/** Builds every request of a scheme that must be refused, by its defect. */
export function mutationsOf(scheme: PartnerScheme, secret: string): ReadonlyMap<string, SignedRequest> {
  const honest = () => honestSigning(secret);
  const mutations = { ...(!scheme.signsNothing && bodies), ...always };
  const made = new Map(Object.entries(mutations).map(([what, mutate]) => [what, mutate(honest(), scheme)] as const));
  if (scheme.signsTime) {
    for (const [what, time] of Object.entries(times)) {
      const signing = honest();
      made.set(`a signed time ${what}`, signed(scheme, { ...signing, seconds: time(signing) }));
    }
    made.set("another time than the signed one", otherTime(scheme, honest()));
  }
  const removable = [scheme.timeHeader, scheme.signsId ? scheme.idHeader : null].filter((name) => name !== null);
  for (const name of removable) {
    const { headers, body } = signed(scheme, honest());
    const { [name]: _removed, ...rest } = headers;
    made.set(`no ${name}`, { headers: rest, body });
    made.set(`an empty ${name}`, { headers: { ...rest, [name]: "" }, body });
  }
  if (scheme.signsId && scheme.idHeader !== null) {
    const { headers, body } = signed(scheme, honest());
    made.set("another id than the signed one", { headers: { ...headers, [scheme.idHeader]: "evt_other" }, body });
  }
  for (const other of partnerSchemes) {
    if (other.source.scheme !== scheme.source.scheme)
      made.set(`a signature of ${other.name} with the same secret`, signed(other, honest()));
  }
  return made;
}

function otherTime(scheme: PartnerScheme, honest: Signing): SignedRequest {
  const { headers, body } = signed(scheme, honest);
  const later = String(Number(honest.seconds) + 1);
  const changed = Object.entries(headers).map(([name, value]) => [name, value.replace(honest.seconds, later)]);
  return { headers: Object.fromEntries(changed), body };
}
