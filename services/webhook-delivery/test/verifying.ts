import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import type { ReceivedRequest } from "@signalbox/testing";

/** Verifies as a subscriber does: from the documentation, with node:crypto alone and without our library. */

const sign = (key: string | Buffer, text: string, body: Buffer) =>
  createHmac("sha256", key).update(text).update(body).digest();

/** Signature expected in the specification's headers. */
export function plainSignature({ headers, body }: ReceivedRequest, secret: string): string {
  return `sha256=${sign(secret, `${headers["x-timestamp"]}.`, body).toString("hex")}`;
}

/** Signature expected in the header of Standard Webhooks. */
export function standardSignature({ headers, body }: ReceivedRequest, secret: string): string {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const start = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`;
  return `v1,${sign(key, start, body).toString("base64")}`;
}

/** Fails unless both families of headers verify with the secret, and neither with another body. */
export function assertSigned(request: ReceivedRequest, secret: string): void {
  assert.equal(request.headers["x-signature"], plainSignature(request, secret));
  assert.ok(String(request.headers["webhook-signature"]).split(" ").includes(standardSignature(request, secret)));
  const ageSeconds = Date.now() / 1000 - Number(request.headers["x-timestamp"]);
  assert.ok(Math.abs(ageSeconds) < 60, "the time is that of this attempt");
  const tampered = { ...request, body: Buffer.concat([request.body, Buffer.from(" ")]) };
  assert.notEqual(request.headers["x-signature"], plainSignature(tampered, secret));
}
