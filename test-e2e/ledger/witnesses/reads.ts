import type { Call } from "../http.ts";

interface Reads {
  /** A write to a missing resource: the caller is judged first. */
  readonly attempt: readonly [path: string, call: Call];
  /** A read that needs no other service. */
  readonly read: string;
}

const mutation = (query: string): Reads["attempt"] => ["/graphql", { body: { query } }];

/** The requests that show, for each service, whether it accepts a credential and whether it works. */
export const readsOf: Readonly<Record<string, Reads>> = {
  account: { attempt: ["/api/account/", { method: "PATCH", body: {} }], read: "/api/account/" },
  images: { attempt: ["/images/nothing", { method: "DELETE" }], read: "/images?limit=1" },
  config: {
    // Its routes only read, and only the gateway reaches its subgraph.
    attempt: ["/api/v1/config/", {}],
    read: "/api/v1/config/",
  },
  "webhook-ingest": {
    attempt: ["/api/v1/webhooks/sources/nothing", { method: "DELETE" }],
    read: "/api/v1/webhooks/sources?limit=1",
  },
  "webhook-delivery": {
    attempt: ["/api/v1/webhooks/endpoints/nothing", { method: "DELETE" }],
    read: "/api/v1/webhooks/endpoints?limit=1",
  },
  gateway: {
    attempt: mutation("mutation { updateAccount(input: {}) { errors { field } } }"),
    read: "/graphql?query={__typename}",
  },
};

/** The services that answer callers at an instance. */
export const servedBy = (service: string): string[] =>
  service === "embedded" ? Object.keys(readsOf) : service in readsOf ? [service] : [];
