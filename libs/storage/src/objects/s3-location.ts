/** The location of a bucket, from `blobs.url`. */
export interface S3Location {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly bucket: string;
  readonly region: string;
}

/** Parses `s3://host:port/bucket?region=…`; `s3+http://` or `tls=false` for a server without TLS. */
export function parseS3Url(text: string): S3Location {
  const url = new URL(text);
  const tls = url.protocol === "s3:" && url.searchParams.get("tls") !== "false";
  const [bucket, ...rest] = url.pathname.split("/").filter((part) => part !== "");
  const unknown = [...url.searchParams.keys()].filter((name) => name !== "region" && name !== "tls");
  if (!bucket || rest.length > 0) throw new Error("blobs.url must end in one bucket: s3://host:port/bucket");
  if (unknown.length > 0)
    throw new Error(`blobs.url has the unknown option ${unknown[0]}; known options are region and tls`);
  const port = Number(url.port) || (tls ? 443 : 80);
  return { host: url.hostname, port, tls, bucket, region: url.searchParams.get("region") ?? "us-east-1" };
}
