import { createHash } from "node:crypto";
import type { Headers } from "../../audit/world.ts";
import type { ClientRequest } from "../../journey/client.ts";
import type { Attack, Control } from "../runner/attack.ts";
import { httpAttack, httpControl, type Judge, refusedAs, shown, succeeds } from "../runner/http-attack.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import { bombs, limitCodes } from "./document-bombs.ts";
import type { Group } from "./group.ts";
import { type Operation, operationsOf } from "./operations.ts";
import { subscriptionRows } from "./subscriptions.ts";

/** Attacks by a query language. */
export const graphql: Group = {
  name: "graphql",
  atOnce: 8,
  async rows(scenes) {
    const scene = await scenes.trusting();
    const { operations } = await operationsOf(scene, (name) => name.startsWith("Mutation."));
    const { headers } = await scene.person();
    return [
      ...operations
        .filter(({ name }) => name.startsWith("Mutation."))
        .flatMap((operation) => forgedForms(scene, operation)),
      ...bombRows(scene, headers),
      ...oddRows(scene, headers),
      ...(await subscriptionRows(scene)),
    ];
  },
};

const post = (headers: Headers, body: unknown): ClientRequest => ({ headers: { ...headers }, method: "POST", body });
export const refused = refusedAs(
  "validation_failed",
  "invalid_request",
  "method_not_allowed",
  "unsupported_media_type",
  "forbidden",
);

/** Requests that a foreign page can make a browser send; none may change anything. */
const forms: Readonly<Record<string, (query: string, variables: string) => { path: string; request: ClientRequest }>> =
  {
    "a link": (query, variables) => ({
      path: `/graphql?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(variables)}`,
      request: { method: "GET" },
    }),
    "a link from another site": (query, variables) => ({
      path: `/graphql?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(variables)}`,
      request: { method: "GET", headers: { "sec-fetch-site": "cross-site" } },
    }),
    "a HEAD": (query, variables) => ({
      path: `/graphql?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(variables)}`,
      request: { method: "HEAD" },
    }),
    "a form": (query, variables) => ({
      path: "/graphql",
      request: typed("application/x-www-form-urlencoded", new URLSearchParams({ query, variables }).toString()),
    }),
    "plain text": (query, variables) => ({
      path: "/graphql",
      request: typed("text/plain", `{"query":${JSON.stringify(query)},"variables":${variables}}`),
    }),
    "a form with a file": (query, variables) => ({
      path: "/graphql",
      request: typed(
        "multipart/form-data; boundary=x",
        `--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n{"query":${JSON.stringify(query)},"variables":${variables}}\r\n--x--\r\n`,
      ),
    }),
    "the type application/graphql": (query) => ({ path: "/graphql", request: typed("application/graphql", query) }),
    "a list of operations": (query, variables) => ({
      path: "/graphql",
      request: typed("application/json", `[{"query":${JSON.stringify(query)},"variables":${variables}}]`),
    }),
    "a query string besides a body": (query, variables) => ({
      path: `/graphql?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(variables)}`,
      request: typed("application/json", "{}"),
    }),
  };

const typed = (type: string, body: string): ClientRequest => ({
  method: "POST",
  headers: { "content-type": type },
  body: Buffer.from(body),
});
/** A HEAD has no body that could give the reason. */
const refusedHead: Judge = (answer) => (answer.status >= 400 && answer.status < 500 ? null : shown(answer));

function forgedForms({ send }: TrustingScene, { name, attempt }: Operation): Attack[] {
  const { by, path, request } = attempt;
  const { query = "", variables = {} } = request.body as { query?: string; variables?: object };
  const headers = { ...request.headers, ...by };
  const control = httpControl({
    send,
    path,
    request: { ...request, headers },
    what: `${name} by its owner`,
    judge: succeeds,
  });
  return Object.entries(forms).map(([what, form]) => {
    const made = form(query, JSON.stringify(variables));
    return httpAttack({
      send,
      path: made.path,
      request: { ...made.request, headers: { ...made.request.headers, ...by } },
      control,
      what: `${name} by ${what}`,
      must: "be refused, and change nothing",
      judge: what === "a HEAD" ? refusedHead : refused,
    });
  });
}

/** Small documents with a high cost. */
function bombRows({ send }: TrustingScene, headers: Headers): Attack[] {
  return bombs.map(({ what, small, large }) => {
    const control = httpControl({
      send,
      path: "/graphql",
      request: post(headers, small),
      what: `a small document of ${what}`,
      judge: succeeds,
    });
    return httpAttack({
      send,
      path: "/graphql",
      request: post(headers, large),
      control,
      what: `${what}, too many`,
      must: "be refused before anything is done",
      judge: refusedAs("validation_failed", "payload_too_large", ...limitCodes),
    });
  });
}

const viewer = "{ viewer { id } }";

/** Requests that are no operation, and fields that are hidden from clients. */
const odd: Readonly<Record<string, unknown>> = {
  "the schema of a service": { query: "{ _service { sdl } }" },
  ...Object.fromEntries(
    ["Account", "Image", "ApiKey", "WebhookEndpoint", "WebhookDelivery", "WebhookSource"].map((type) => [
      `an entity ${type} by its id`,
      { query: `{ _entities(representations: [{ __typename: "${type}", id: "x" }]) { __typename } }` },
    ]),
  ),
  "two operations and no name": { query: `query a ${viewer} query b ${viewer}` },
  "the name of an operation that is not there": { query: `query a ${viewer}`, operationName: "b" },
  "the name __proto__": { query: `query a ${viewer}`, operationName: "__proto__" },
  "two operations of one name": { query: `query a ${viewer} query a ${viewer}`, operationName: "a" },
  "a fragment that spreads itself": { query: "query { viewer { ...a } } fragment a on Account { ...a }" },
  "two fragments that spread each other": {
    query: "{ viewer { ...a } } fragment a on Account { ...b } fragment b on Account { ...a }",
  },
  "a fragment that is not used": { query: `${viewer} fragment a on Account { id }` },
  "a variable that is not declared": { query: "{ account(id: $a) { id } }" },
  "a variable of no type": { query: "query ($a: Nothing) { viewer { id } }" },
  "a subscription in a query": { query: "subscription { imageUpdated { id } }" },
  "a definition of a type": { query: "type Query { a: Int } query { viewer { id } }" },
  "an extension of a type": { query: "extend type Account { secret: String }" },
  "a directive of the graph's own": { query: "{ viewer @join__type(graph: ACCOUNT) { id } }" },
  "a directive nobody knows": { query: "{ viewer @admin { id } }" },
  "a field of secrets": { query: "{ viewer { apiKeys(first: 1) { edges { node { digest key secret } } } } }" },
  "the secret of an endpoint": { query: "{ viewer { webhookEndpoints(first: 1) { edges { node { secret } } } } }" },
  "the secret of a source": { query: "{ viewer { webhookSources(first: 1) { edges { node { secret } } } } }" },
  nothing: {},
  "an empty document": { query: "" },
  "a number as document": { query: 7 },
  "a list as document": { query: [viewer] },
  "an object as document": { query: { toString: viewer } },
  "variables that are a list": { query: viewer, variables: [] },
  "variables that are a text": { query: viewer, variables: "{}" },
  "a page of a thousand": { query: "{ viewer { images(first: 1000) { edges { node { id } } } } }" },
  "a page of minus one": { query: "{ viewer { images(first: -1) { edges { node { id } } } } }" },
  "a cursor of somebody's making": {
    query: '{ viewer { images(first: 1, after: "eyJhdCI6MH0") { edges { node { id } } } } }',
  },
  "a cursor with a quote": { query: `{ viewer { images(first: 1, after: "' or 1=1 --") { edges { node { id } } } } }` },
  "a remembered document that was never sent": {
    extensions: {
      persistedQuery: { version: 1, sha256Hash: createHash("sha256").update(crypto.randomUUID()).digest("hex") },
    },
  },
};

function oddRows({ send }: TrustingScene, headers: Headers): Attack[] {
  const control: Control = httpControl({
    send,
    path: "/graphql",
    request: post(headers, { query: viewer }),
    what: "a plain query",
    judge: succeeds,
  });
  const isRefused = refusedAs("validation_failed", "invalid_request", "persisted_query_not_found");
  return Object.entries(odd).map(([what, body]) =>
    httpAttack({
      send,
      path: "/graphql",
      request: post(headers, body),
      what,
      must: "be refused",
      judge: isRefused,
      control,
    }),
  );
}
