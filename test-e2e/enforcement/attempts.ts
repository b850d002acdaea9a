import assert from "node:assert/strict";
import type { Answer, ClientRequest } from "../journey/client.ts";

/** How a service takes a caller who wants to write: lets them in, or refuses the account or the credential. */
export type Verdict = "let in" | "account_suspended" | "unauthorized";

type Attempt = readonly [path: string, request: ClientRequest];

const mutation = (query: string): Attempt => ["/graphql", { body: { query } }];

/** One write in every service. Most are about things that are not there: what is judged is who asks. */
export const attempts: Readonly<Record<string, Attempt>> = {
  account: ["/api/account/", { method: "PATCH", body: {} }],
  images: ["/images/nothing", { method: "DELETE" }],
  "webhook-ingest": ["/api/v1/webhooks/sources/nothing", { method: "DELETE" }],
  "webhook-delivery": ["/api/v1/webhooks/endpoints/nothing", { method: "DELETE" }],
  gateway: mutation("mutation { updateAccount(input: {}) { errors { field } } }"),
  // Its REST routes only read, so the write goes through the graph.
  config: mutation(
    'mutation { unsetProperty(input: { name: "no.such", expectedRevision: "0" }) { errors { field } } }',
  ),
};

/** What an answer says about the caller. An outage says nothing, nor does a limit: both are no answer. */
export function verdictOf({ status, json, bytes }: Answer): Verdict {
  assert.ok(status < 500 && status !== 429, `${status}: ${bytes}`);
  const code = json?.errors?.[0]?.extensions?.code ?? json?.error?.code;
  if (status === 401 || code === "UNAUTHENTICATED") return "unauthorized";
  if (status !== 403 && code !== "FORBIDDEN") return "let in";
  const text = bytes.toString("utf8");
  assert.match(text, /account_suspended|The account is suspended/, text);
  return "account_suspended";
}
