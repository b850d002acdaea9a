import { createHash } from "node:crypto";

/**
 * What makes two requests the same (CONTRACT §2): method, path, parsed parameters and parsed content. The order in which
 * a client writes members does not matter.
 */
export function requestFingerprint(method: string, path: string, query: unknown, content: unknown): Buffer {
  const text = JSON.stringify(
    [method, path, query ?? {}, Buffer.isBuffer(content) ? digest(content) : (content ?? null)],
    ordered,
  );
  return createHash("sha256").update(text).digest();
}

function ordered(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const digest = (content: Buffer): string => createHash("sha256").update(content).digest("hex");
