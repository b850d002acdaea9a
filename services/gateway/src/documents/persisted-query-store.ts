import { hash } from "node:crypto";
import { MiB } from "@signalbox/core";
import type { GraphQLError } from "graphql";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { type WatchedDependencies, watchSource } from "../watched/watch-source.ts";
import { graphError } from "./graph-error.ts";
import type { OperationRequest } from "./operation-request.ts";

/**
 * Allowed documents: every text (any), also by the digest of an earlier one (apq), or only those of a manifest
 * (trusted).
 */
export type DocumentMode = "any" | "apq" | "trusted";

type Found = { readonly text: string } | { readonly refusal: GraphQLError };

/** The source of an operation's document text. */
export interface Documents {
  find(request: OperationRequest): Found;
  /** Stores the text of a valid document under the digest sent with it. */
  remember(request: OperationRequest): void;
}

export function openDocuments(mode: DocumentMode, trusted: TrustedDocuments | null): Documents {
  if (trusted) return trustedDocuments(trusted);
  return mode === "apq" ? persistedDocuments() : { find: findText, remember() {} };
}

function findText({ query }: OperationRequest): Found {
  // Clients know this message and send the text from then on.
  return query === null ? refused("PersistedQueryNotSupported") : { text: query };
}

const keptBytesMax = 16 * MiB;
const entryBytes = 256;

/** Automatic persisted queries: a text sent once with its digest is found by the digest alone. */
function persistedDocuments(): Documents {
  const kept = new LRUCache<string, string>({
    maxSize: keptBytesMax,
    maxEntrySize: MiB,
    sizeCalculation: (text) => entryBytes + 2 * text.length,
  });
  return {
    find({ query, documentId }) {
      if (query === null) return known(kept.get(documentId ?? ""));
      if (documentId === null || digestOf(query) === documentId) return { text: query };
      return refused("The sha256Hash does not match the query.");
    },
    remember({ query, documentId }) {
      if (query !== null && documentId !== null) kept.set(documentId, query);
    },
  };
}

/** Runs only documents of the manifest, by name or by text. */
function trustedDocuments(trusted: TrustedDocuments): Documents {
  return {
    find({ query, documentId }) {
      const listed = trusted(documentId ?? digestOf(query ?? ""));
      if (query === null) return known(listed);
      if (listed === query) return { text: query };
      return refused("Only the documents of this server's manifest are allowed.");
    },
    remember() {},
  };
}

const known = (text: string | undefined): Found =>
  text === undefined ? refused("PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND") : { text };

const refused = (message: string, code = "VALIDATION_FAILED") => ({ refusal: graphError(code, message) });

/** Finds a text of a manifest by its name there, or by its digest. */
export type TrustedDocuments = (id: string) => string | undefined;

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
export async function openTrustedDocuments(location: string, parts: WatchedDependencies): Promise<TrustedDocuments> {
  let texts: ReadonlyMap<string, string> = new Map();
  await watchSource({ name: "trusted documents", location, ...parts }, async (content) => {
    texts = textsOf(content);
  });
  return (id) => texts.get(id);
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

const digestOf = (text: string): string => hash("sha256", text);
