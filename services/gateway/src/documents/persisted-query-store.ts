import { MiB } from "@signalbox/core";
import { GraphQLError } from "graphql";
import { LRUCache } from "lru-cache";
import type { OperationRequest } from "./operation-request.ts";
import { digestOf, type TrustedDocuments } from "./trusted-documents.ts";

/**
 * Allowed documents: every text (any), also by the digest of an earlier one (apq), or only those of a manifest
 * (trusted).
 */
export type DocumentMode = "any" | "apq" | "trusted";

type Named = Pick<OperationRequest, "query" | "documentId">;
type Found = { readonly text: string } | { readonly refusal: GraphQLError };

/** The source of an operation's document text. */
export interface Documents {
  find(request: Named): Found;
  /** Stores the text of a valid document under the digest sent with it. */
  remember(request: Named): void;
}

export function openDocuments(mode: DocumentMode, trusted: TrustedDocuments | null): Documents {
  if (trusted) return trustedDocuments(trusted);
  return mode === "apq" ? persistedDocuments() : { find: findText, remember() {} };
}

function findText({ query }: Named): Found {
  // Clients know this message and send the text from then on.
  return query === null ? { refusal: refused("PersistedQueryNotSupported") } : { text: query };
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
      return { refusal: refused("The sha256Hash does not match the query.") };
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
      const listed = trusted.textOf(documentId ?? digestOf(query ?? ""));
      if (query === null) return known(listed);
      if (listed === query) return { text: query };
      return { refusal: refused("Only the documents of this server's manifest are allowed.") };
    },
    remember() {},
  };
}

const known = (text: string | undefined): Found =>
  text === undefined ? { refusal: refused("PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND") } : { text };

const refused = (message: string, code = "VALIDATION_FAILED") => new GraphQLError(message, { extensions: { code } });
