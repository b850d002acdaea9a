import { UsageError } from "../failures.ts";

/** A request as it was saved: header names in lower case, the body as bytes. */
export interface SavedRequest {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/**
 * Reads a saved request: HTTP as it was sent (a request line or none, headers, an empty line, the body), or a line of
 * `signalbox listen --json`.
 */
export function readRequest(bytes: Buffer): SavedRequest {
  return jsonRequest(bytes) ?? httpRequest(bytes);
}

function jsonRequest(bytes: Buffer): SavedRequest | null {
  if (bytes[0] !== 0x7b) return null;
  try {
    const { headers, body, body_encoding: encoding = "utf8" } = JSON.parse(bytes.toString("utf8"));
    if (typeof headers !== "object" || headers === null || typeof body !== "string") return null;
    const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
    return { headers: new Map(entries), body: Buffer.from(body, encoding === "base64" ? "base64" : "utf8") };
  } catch {
    return null;
  }
}

function httpRequest(bytes: Buffer): SavedRequest {
  const [head, body] = splitHead(bytes);
  const lines = head.split(/\r?\n/);
  const isRequestLine = /^[A-Z]+ \S+( HTTP\/[\d.]+)?$/.test(lines[0] ?? "");
  const headers = new Map<string, string>();
  for (const line of isRequestLine ? lines.slice(1) : lines) {
    const at = line.indexOf(":");
    if (at < 1) throw new UsageError(`The file is not a saved request: invalid header "${line.slice(0, 60)}".`);
    headers.set(line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim());
  }
  return { headers, body };
}

/** Splits at the first empty line, whichever line ends the file has. */
function splitHead(bytes: Buffer): readonly [head: string, body: Buffer] {
  const ends = ["\r\n\r\n", "\n\n"].map((end) => ({ at: bytes.indexOf(end), length: end.length }));
  const [first] = ends.filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at);
  if (!first) throw new UsageError("The file has no empty line between headers and body.");
  return [bytes.subarray(0, first.at).toString("utf8"), bytes.subarray(first.at + first.length)];
}
