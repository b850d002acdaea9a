import type { IncomingMessage } from "node:http";
import { AppError, MiB } from "@signalbox/core";

/** A GraphQL request in the form of the spec's "Query endpoint message shapes". */
export interface GraphqlRequest {
  readonly query: string;
  readonly variables: Record<string, unknown> | undefined;
  readonly operationName: string | undefined;
}

/** Representations of a large entity fetch are the biggest bodies here; a larger one is a fault of the sender. */
const bodyBytesMax = 8 * MiB;

/** Reads and checks the JSON body. @throws AppError `invalid_request` or `payload_too_large`. */
export async function readGraphqlRequest(request: IncomingMessage): Promise<GraphqlRequest> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw new AppError("payload_too_large", `The body is larger than ${bodyBytesMax} bytes.`);
    chunks.push(chunk);
  }
  return graphqlRequestFrom(parsed(Buffer.concat(chunks).toString("utf8")));
}

/** The members of a request besides its document, of which a gateway accepts more forms. */
export interface RequestMembers extends Omit<GraphqlRequest, "query"> {
  readonly query: unknown;
  readonly documentId: unknown;
  readonly extensions: Record<string, unknown> | undefined;
}

/** Checks the members of a parsed request. @throws AppError `invalid_request` naming the member. */
function graphqlRequestFrom(body: unknown): GraphqlRequest {
  const { query, variables, operationName } = requestMembersFrom(body);
  if (typeof query === "string") return { query, variables, operationName };
  throw new AppError("invalid_request", "query must be a string.", { field: "query" });
}

/** Checks the members besides the document. @throws AppError `invalid_request` naming the member. */
export function requestMembersFrom(body: unknown): RequestMembers {
  if (!isObject(body)) throw new AppError("invalid_request", "The body must be a JSON object.");
  const { query, documentId, variables, operationName, extensions } = body;
  if (variables !== undefined && variables !== null && !isObject(variables)) {
    throw new AppError("invalid_request", "variables must be an object.", { field: "variables" });
  }
  if (operationName !== undefined && operationName !== null && typeof operationName !== "string") {
    throw new AppError("invalid_request", "operationName must be a string.", { field: "operationName" });
  }
  if (extensions !== undefined && extensions !== null && !isObject(extensions)) {
    throw new AppError("invalid_request", "extensions must be an object.", { field: "extensions" });
  }
  return {
    query,
    documentId,
    variables: variables ?? undefined,
    operationName: operationName || undefined,
    extensions: extensions ?? undefined,
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError("invalid_request", "The body is not JSON.", { cause });
  }
}
