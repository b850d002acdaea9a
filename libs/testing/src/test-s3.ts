import { createHash, createHmac, randomBytes } from "node:crypto";
import { endpointOf } from "./test-engines.ts";

export interface TestS3 {
  /** Value of `blobs.url` with an empty bucket: `s3+http://host:port/bucket?region=…`. */
  readonly url: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bucket: string;
  readonly region: string;
  /** The server without the bucket: `http://host:port`. */
  readonly origin: string;
}

/** Creates an empty bucket on the shared S3 server. */
export async function testS3(): Promise<TestS3> {
  const { url, details } = await endpointOf("s3");
  const { accessKey = "", secretKey = "", region = "us-east-1" } = details;
  const bucket = `test-${randomBytes(8).toString("hex")}`;
  const origin = url
    .replace(/^s3\+http:/, "http:")
    .replace(/^s3:/, "https:")
    .replace(/\/$/, "");
  await createBucket({ origin, accessKey, secretKey, region }, bucket);
  return { url: `${url}/${bucket}?region=${region}`, accessKey, secretKey, bucket, region, origin };
}

interface Server {
  readonly origin: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
}

/** Signed by hand (AWS Signature Version 4): a test of the object store must not rest on the client that it tests. */
async function createBucket({ origin, accessKey, secretKey, region }: Server, bucket: string): Promise<void> {
  const time = new Date().toISOString().replace(/[-:]|\.\d{3}/g, "");
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const headers = { host: new URL(origin).host, "x-amz-content-sha256": sha256(""), "x-amz-date": time };
  const names = Object.keys(headers).join(";");
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const request = ["PUT", `/${bucket}`, "", lines.join(""), names, sha256("")].join("\n");
  const key = scope.split("/").reduce<string | Buffer>(hmac, `AWS4${secretKey}`);
  const signature = hmac(key, ["AWS4-HMAC-SHA256", time, scope, sha256(request)].join("\n")).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope},SignedHeaders=${names},Signature=${signature}`;
  const { host: _, ...sent } = headers;
  const response = await fetch(`${origin}/${bucket}`, { method: "PUT", headers: { ...sent, authorization } });
  if (!response.ok)
    throw new Error(`the S3 server refuses to create a bucket: ${response.status} ${await response.text()}`);
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
