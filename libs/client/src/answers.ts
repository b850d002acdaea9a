import type { components } from "./generated/api.d.ts";
import { retryAfterMs } from "./retry-backoff.ts";

type Refusal = components["schemas"]["Error"]["error"];

/** A refusal of the API. `code` is stable, the message is for people. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: Refusal["code"] | "unknown";
  readonly requestId: string | null;
  /** URL of the page that explains the code. */
  readonly docUrl: string | null;
  readonly details: NonNullable<Refusal["details"]>;
  /** The time after which the API wants to be asked again; null where it names none. */
  readonly retryAfterMs: number | null;

  constructor(response: Response, body: unknown) {
    const refusal = refusalIn(body);
    super(refusal?.message ?? `The answer was ${response.status} ${response.statusText}.`);
    this.name = "ApiError";
    this.status = response.status;
    this.code = refusal?.code ?? "unknown";
    this.requestId = refusal?.request_id ?? response.headers.get("X-Request-Id");
    this.docUrl = refusal?.doc_url ?? null;
    this.details = refusal?.details ?? [];
    this.retryAfterMs = retryAfterMs(response.headers.get("Retry-After"));
  }
}

interface Answer<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * Returns the data of an answer.
 * @throws ApiError when the request was refused
 */
export async function dataOf<Data>(answer: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await answer;
  if (!response.ok) throw new ApiError(response, error);
  return data as Data;
}

/**
 * Creates the parameter that makes a repetition harmless: `params: { header: idempotencyKey() }`. Requests with it are
 * sent again when no answer came. Send the same key again to read an answer that was lost.
 */
export const idempotencyKey = (key: string = crypto.randomUUID()) => ({ "Idempotency-Key": key });

/** Reads the refusal in a body, of the graph its first error; null for the body of a proxy or another server on the way. */
function refusalIn(body: unknown): Partial<Refusal> | null {
  if (typeof body !== "object" || body === null) return null;
  if ("errors" in body && Array.isArray(body.errors)) return graphRefusalIn(body.errors[0]);
  const refusal = "error" in body ? (body.error as Refusal | null) : null;
  if (typeof refusal?.code !== "string" || typeof refusal.message !== "string") return null;
  return { ...refusal, details: Array.isArray(refusal.details) ? refusal.details : [] };
}

function graphRefusalIn(error: unknown): Partial<Refusal> | null {
  const message = (error as { readonly message?: unknown } | null)?.message;
  return typeof message === "string" ? { message } : null;
}
