import { MiB } from "@signalbox/core";
import { GraphQLError } from "graphql";
import { LRUCache } from "lru-cache";
import type { OperationRequest } from "./operation-request.ts";
import { digestOf, type TrustedDocuments } from "./trusted-documents.ts";

/** Which documents are run: every text, also texts that were sent before by their digest, or those of a manifest alone. */
export type DocumentMode = "any" | "apq" | "trusted";

type Named = Pick<OperationRequest, "query" | "documentId">;
type Found = { readonly text: string } | { readonly refusal: GraphQLError };

/** Where the text of an operation's document comes from. */
export interface Documents {
  find(request: Named): Found;
  /** Keeps the text of a document that turned out to be valid under the digest that came with it. */
  remember(request: Named): void;
}

export function openDocuments(mode: DocumentMode, trusted: TrustedDocuments | null): Documents {
  if (trusted) return trustedDocuments(trusted);
  return mode === "apq" ? persistedDocuments() : { find: findText, remember() {} };
}

function findText({ query }: Named): Found {
  // Clients that know this sentence send the text from then on.
  return query === null ? { refusal: refused("PersistedQueryNotSupported") } : { text: query };
}

const keptBytesMax = 16 * MiB;
const entryBytes = 256;

/** Automatic persisted queries: a text that came once with its digest is found by the digest alone. */
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
      return { refusal: refused("The sha256Hash is not that of the query.") };
    },
    remember({ query, documentId }) {
      if (query !== null && documentId !== null) kept.set(documentId, query);
    },
  };
}

/** Only what the manifest has is run, by its name or by its text. */
function trustedDocuments(trusted: TrustedDocuments): Documents {
  return {
    find({ query, documentId }) {
      const listed = trusted.textOf(documentId ?? digestOf(query ?? ""));
      if (query === null) return known(listed);
      if (listed === query) return { text: query };
      return { refusal: refused("Only the documents of this server's manifest are run.") };
    },
    remember() {},
  };
}

const known = (text: string | undefined): Found =>
  text === undefined ? { refusal: refused("PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND") } : { text };

const refused = (message: string, code = "VALIDATION_FAILED") => new GraphQLError(message, { extensions: { code } });
