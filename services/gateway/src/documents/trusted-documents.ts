import { createHash } from "node:crypto";
import { z } from "zod";
import { type WatchedDependencies, watchSource } from "../watched/watch-source.ts";

/** The current documents of a manifest. */
export interface TrustedDocuments {
  /** Finds a text by its name in the manifest, or by its digest. */
  textOf(id: string): string | undefined;
}

const Manifest = z.union([
  // The format of Apollo's `generate-persisted-query-manifest`.
  z.object({
    format: z.literal("apollo-persisted-query-manifest"),
    version: z.literal(1),
    operations: z.array(z.object({ id: z.string(), body: z.string() })),
  }),
  // The format of Relay and GraphQL Code Generator.
  z.record(z.string(), z.string()),
]);

/** Opens a manifest and watches it. A later unreadable one leaves the documents unchanged. */
export async function openTrustedDocuments(
  location: string,
  dependencies: WatchedDependencies,
): Promise<TrustedDocuments> {
  let texts: ReadonlyMap<string, string> = new Map();
  await watchSource({ name: "trusted documents", location, ...dependencies }, async (content) => {
    texts = textsOf(content);
  });
  return { textOf: (id) => texts.get(id) };
}

const looksLikeDigest = /^[\da-f]{64}$/;

/** @throws Error for a manifest of unknown format, and for one whose digests do not match its texts. */
function textsOf(content: string): ReadonlyMap<string, string> {
  const manifest = Manifest.safeParse(JSON.parse(content));
  if (!manifest.success) throw new Error("the manifest is neither in Apollo's format nor a map from ids to documents");
  const { operations } = manifest.data;
  const entries = Array.isArray(operations)
    ? operations.map(({ id, body }) => [id, body] as const)
    : Object.entries(manifest.data as Record<string, string>);
  const texts = new Map<string, string>();
  for (const [name, text] of entries) {
    const [id, digest] = [name.replace(/^sha256:/, ""), digestOf(text)];
    if (looksLikeDigest.test(id) && id !== digest) throw new Error(`${id} is not the digest of its document`);
    texts.set(id, text).set(digest, text);
  }
  return texts;
}

export const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");
