import { ApiError } from "@signalbox/client";
import { sendAsPerson } from "./api.ts";
import { deploymentUrl } from "./place.ts";
import { askPerson } from "./session.ts";

export interface Detail {
  readonly field: string | null;
  readonly code: string;
  readonly message: string;
}

/** A page of a list. */
export interface Connection<Node> {
  readonly edges: ReadonlyArray<{ readonly node: Node }>;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

interface GraphError {
  readonly message: string;
  readonly extensions?: {
    readonly code?: string;
    readonly details?: readonly Detail[];
    readonly request_id?: string;
  };
}

/** Codes of the graph with the status and the code that REST has for the same. */
const codes: Readonly<Record<string, readonly [status: number, code: string]>> = {
  UNAUTHENTICATED: [401, "unauthorized"],
  FORBIDDEN: [403, "forbidden"],
  NOT_FOUND: [404, "not_found"],
  CONFLICT: [409, "conflict"],
  RATE_LIMITED: [429, "rate_limited"],
  UNAVAILABLE: [503, "unavailable"],
  INTERNAL: [500, "internal"],
};

/**
 * Asks the graph, which alone has properties and flags. What needs a recent sign-in waits for the person, as over REST.
 * @throws ApiError when the request was refused
 */
export async function askGraph<Data>(query: string, variables: object = {}): Promise<Data> {
  const first = await post<Data>(query, variables);
  if (!first.errors?.some(asksRecentSignIn)) return dataIn(first);
  return dataIn((await askPerson("recent")) ? await post<Data>(query, variables) : first);
}

/**
 * Returns the payload of a mutation that has `errors` of its own.
 * @throws ApiError when fields were refused
 */
export function payloadOf<Payload extends { readonly errors: readonly Detail[] }>(payload: Payload): Payload {
  if (payload.errors.length === 0) return payload;
  throw refusal(422, "validation_error", "The change was refused.", payload.errors);
}

interface Answered<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly GraphError[];
}

async function post<Data>(query: string, variables: object): Promise<Answered<Data>> {
  const answer = await sendAsPerson(
    new Request(new URL("graphql", deploymentUrl), {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify({ query, variables }),
    }),
  );
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok && !Array.isArray(body.errors)) throw new ApiError(answer, body);
  return body;
}

function dataIn<Data>({ data, errors: [error] = [] }: Answered<Data>): Data {
  if (!error) return data as Data;
  const { code = "", details = [], request_id } = error.extensions ?? {};
  const [status, restCode] = codes[code] ?? [422, "validation_error"];
  throw refusal(status, restCode, error.message, details, request_id);
}

function refusal(status: number, code: string, message: string, details: readonly Detail[], requestId?: string) {
  const error = { code, message, details, request_id: requestId ?? null };
  return new ApiError(new Response(null, { status }), { error });
}

const asksRecentSignIn = ({ extensions }: GraphError): boolean =>
  extensions?.details?.some(({ code }) => code === "step_up_required") ?? false;
