import { createHash, createHmac, createSecretKey } from "node:crypto";
import type { S3Location } from "./s3-location.ts";

/** The object that a URL may store. */
export interface PresignedPutOptions {
  /** Exact number of bytes. */
  readonly size: number;
  readonly contentType: string;
  /** SHA-256 of the bytes in hex. */
  readonly sha256?: string;
  readonly now: Date;
  readonly expiresInSeconds: number;
}

/** A request that the holder of the signed URL may send, with exactly these headers. */
export interface PresignedPut {
  readonly url: string;
  /** Besides Content-Length, which every client sets by itself. */
  readonly headers: Readonly<Record<string, string>>;
}

interface Signing {
  readonly location: S3Location;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Public address of the server for clients, if it differs. */
  readonly origin: string | null;
}

/**
 * Signs a PUT (Signature Version 4) together with its length, its type and its checksum, so that the server refuses any
 * other body. The minio client signs the address alone, which would let anything be stored.
 */
export function presignPut(
  { location, accessKey, secretKey, origin }: Signing,
  key: string,
  options: PresignedPutOptions,
): PresignedPut {
  const { host, port, tls, bucket, region } = location;
  const base = new URL(origin ?? `${tls ? "https" : "http"}://${host}:${port}`);
  const time = options.now.toISOString().replace(/[-:]|\.\d{3}/g, "");
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const headers = {
    "content-type": options.contentType,
    ...(options.sha256 && { "x-amz-checksum-sha256": Buffer.from(options.sha256, "hex").toString("base64") }),
  };
  const signed = Object.entries({ ...headers, "content-length": String(options.size), host: base.host }).sort(byName);
  const names = signed.map(([name]) => name).join(";");
  const query = new URLSearchParams({
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": `${accessKey}/${scope}`,
    "X-Amz-Date": time,
    "X-Amz-Expires": String(options.expiresInSeconds),
    "X-Amz-SignedHeaders": names,
  });
  const path = `/${bucket}/${key}`;
  const canonical = [
    "PUT",
    path,
    query,
    ...signed.map(([name, value]) => `${name}:${value}`),
    "",
    names,
    "UNSIGNED-PAYLOAD",
  ];
  const hashed = createHash("sha256").update(canonical.join("\n")).digest("hex");
  const signingKey = scope.split("/").reduce((secret: string | Buffer, part) => hmac(secret, part), `AWS4${secretKey}`);
  const signature = hmac(signingKey, ["AWS4-HMAC-SHA256", time, scope, hashed].join("\n")).toString("hex");
  return { url: `${base.origin}${path}?${query}&X-Amz-Signature=${signature}`, headers };
}

// Keys as bytes cost Node an exception before they are accepted, which takes longer than the digest.
const hmac = (secret: string | Buffer, text: string): Buffer =>
  createHmac("sha256", typeof secret === "string" ? secret : createSecretKey(secret))
    .update(text)
    .digest();
const byName = ([one]: readonly [string, string], [other]: readonly [string, string]) => (one < other ? -1 : 1);
