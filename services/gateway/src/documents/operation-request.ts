import { AppError } from "@signalbox/core";
import { type RequestMembers, requestMembersFrom } from "@signalbox/http";

/** A request for an operation. Its document is given as text, by name, or both. */
export interface OperationRequest {
  readonly query: string | null;
  /** The SHA-256 of the text in hex, or its name in the manifest. */
  readonly documentId: string | null;
  readonly variables: RequestMembers["variables"];
  readonly operationName: RequestMembers["operationName"];
  /** The cursor that a subscription resumes after. */
  readonly resumeAfter: string | null;
}

const idLengthMax = 256;

/** Reads a parsed request. @throws AppError `invalid_request` naming the member. */
export function operationRequestFrom(body: unknown): OperationRequest {
  const { query, documentId, variables, operationName, extensions } = requestMembersFrom(body);
  const id = idFrom(documentId) ?? idFromExtension(extensions?.persistedQuery);
  const resumeAfter = cursorFrom(extensions?.resumeAfter);
  const text = query ?? null;
  if (typeof text !== "string" && (text !== null || id === null))
    throw new AppError("invalid_request", "query must be a string.", { field: "query" });
  return { query: text, documentId: id, variables, operationName, resumeAfter };
}

function cursorFrom(cursor: unknown): string | null {
  if (cursor === undefined || cursor === null) return null;
  if (typeof cursor === "string") return cursor;
  throw new AppError("invalid_request", "extensions.resumeAfter must be a cursor.", { field: "extensions" });
}

/** Reads the `persistedQuery` extension of Apollo's clients and compatible ones. */
function idFromExtension(persisted: unknown): string | null {
  if (persisted === undefined || persisted === null) return null;
  const { version, sha256Hash } = Object(persisted) as { readonly version?: unknown; readonly sha256Hash?: unknown };
  const id = version === 1 ? idFrom(sha256Hash) : null;
  if (id !== null) return id;
  const message = "extensions.persistedQuery must have version 1 and a sha256Hash.";
  throw new AppError("invalid_request", message, { field: "extensions" });
}

/** Reads an id; the prefix `sha256:` of the GraphQL over HTTP draft is optional. */
function idFrom(id: unknown): string | null {
  if (id === undefined || id === null) return null;
  if (typeof id === "string" && id.length > 0 && id.length <= idLengthMax) return id.replace(/^sha256:/, "");
  const message = `The id of a document must be a string of 1 to ${idLengthMax} characters.`;
  throw new AppError("invalid_request", message, { field: "documentId" });
}
