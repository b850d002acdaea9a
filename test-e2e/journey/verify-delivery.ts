import { createHmac, timingSafeEqual } from "node:crypto";

interface Delivery {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/**
 * A subscriber's own check of both signature families of CONTRACT §6, written from the contract and not from our
 * libraries: it must reject wrong signatures that they would accept.
 */
export function verifiesBoth(delivery: Delivery, secret: string): boolean {
  return verifiesSpecHeaders(delivery, secret) && verifiesStandardWebhooks(delivery, secret);
}

function verifiesSpecHeaders({ headers, body }: Delivery, secret: string): boolean {
  const signed = Buffer.concat([Buffer.from(`${headers["x-timestamp"]}.`), body]);
  const expected = `sha256=${createHmac("sha256", secret).update(signed).digest("hex")}`;
  return equal(expected, headers["x-signature"]);
}

function verifiesStandardWebhooks({ headers, body }: Delivery, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = Buffer.concat([Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`), body]);
  const expected = `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  return String(headers["webhook-signature"] ?? "")
    .split(" ")
    .some((signature) => equal(expected, signature));
}

function equal(expected: string, presented: string | string[] | undefined): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(String(presented))];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The same delivery with one bit of its body flipped, as an attacker on the way could do. */
export function withOneByteChanged(delivery: Delivery): Delivery {
  const body = Buffer.from(delivery.body);
  body[body.length - 2] = (body[body.length - 2] as number) ^ 1;
  return { headers: delivery.headers, body };
}
