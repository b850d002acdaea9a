import assert from "node:assert/strict";
import type { Answer, ClientRequest } from "../journey/client.ts";

/** A service's verdict on a caller who wants to write: admitted, or the refusal of the account or the credential. */
export type Verdict = "let in" | "unauthorized" | `account_${"suspended" | "disabled" | "deleted"}`;

type Attempt = readonly [path: string, request: ClientRequest];

const mutation = (query: string): Attempt => ["/graphql", { body: { query } }];

/** One write in every service. Most name missing resources: the caller is judged first. */
export const attempts: Readonly<Record<string, Attempt>> = {
  account: ["/api/account/", { method: "PATCH", body: {} }],
  images: ["/images/nothing", { method: "DELETE" }],
  "webhook-ingest": ["/api/v1/webhooks/sources/nothing", { method: "DELETE" }],
  "webhook-delivery": ["/api/v1/webhooks/endpoints/nothing", { method: "DELETE" }],
  gateway: mutation("mutation { updateAccount(input: {}) { errors { field } } }"),
  // Its REST routes only read, so the write is a mutation.
  config: mutation(
    'mutation { unsetProperty(input: { name: "no.such", expectedRevision: "0" }) { errors { field } } }',
  ),
};

/** Returns the verdict of an answer. Outages and rate limits are none. */
export function verdictOf({ status, json, bytes }: Answer): Verdict {
  assert.ok(status < 500 && status !== 429, `${status}: ${bytes}`);
  const code = json?.errors?.[0]?.extensions?.code ?? json?.error?.code;
  if (status === 401 || code === "UNAUTHENTICATED") return "unauthorized";
  if (status !== 403 && code !== "FORBIDDEN") return "let in";
  const text = bytes.toString("utf8");
  const [, state] = /The account is (suspended|disabled|deleted)/.exec(text) ?? [];
  assert.ok(state, text);
  return `account_${state}` as Verdict;
}
