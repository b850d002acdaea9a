import { KiB, seconds } from "@signalbox/core";

const deadlineMs = seconds(5);
const bytesMax = 512 * KiB;

/**
 * Reads a JSON document of an issuer that the operator configured. The address comes from configuration, so it may be
 * a private one; time and bytes are bounded, and redirects are refused because they would leave the configured place.
 */
export async function fetchJson(url: string): Promise<unknown> {
  const response = await fetch(url, {
    headers: { accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(deadlineMs),
  });
  if (!response.ok || response.body === null) throw new Error(`${url} answered ${response.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > bytesMax) throw new Error(`${url} answered more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}
