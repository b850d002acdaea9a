import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accountStates, type Scope } from "@signalbox/contracts";
import { type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, startConfig } from "./harness.ts";

let config: Harness;
before(async () => {
  config = await startConfig({ "http.rate-limit.anonymous.requests": 100_000 });
});
after(() => config.close());

type State = (typeof accountStates)[number];

interface Route {
  readonly path: string;
  readonly methods: readonly string[];
  /** The required scope; null for none. */
  readonly scope: Scope | null;
  /** The account states with access (CONTRACT §1). */
  readonly states: readonly State[];
  readonly anonymous?: true;
}

const reading: readonly State[] = ["pending", "active", "suspended"];
const [get, post] = [["GET", "HEAD"], ["POST"]];
const matrix: readonly Route[] = [
  { path: "/api/v1/config/", methods: get, scope: null, states: reading },
  { path: "/api/v2/settings/", methods: get, scope: null, states: reading, anonymous: true },
  { path: "/api/v1/env/", methods: get, scope: "env:read", states: reading },
  { path: "/api/v1/status/config", methods: get, scope: "config:read", states: reading },
  { path: "/api/v1/config/stream", methods: get, scope: null, states: ["pending", "active"] },
  { path: "/ofrep/v1/evaluate/flags", methods: post, scope: null, states: reading },
  { path: "/ofrep/v1/evaluate/flags/none", methods: post, scope: null, states: reading },
];
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const audiences: Readonly<Record<string, readonly Scope[]>> = {
  "without scopes": [],
  viewer: ["account:read", "images:read", "webhooks:read", "config:read"],
  "reader of env": ["env:read"],
  operator: ["config:read", "config:admin", "env:read", "management:read"],
};

/** Returns only the status: a stream has no end to wait for. */
async function statusOf(who: Record<string, string>, method: string, { path }: Route, targetingKey?: string) {
  const stop = new AbortController();
  const body = method === "POST" ? JSON.stringify({ context: { targetingKey } }) : null;
  const headers = { ...who, ...(body !== null && { "content-type": "application/json" }) };
  const answer = await fetch(config.url + path, { method, headers, body, signal: stop.signal });
  const allow = answer.headers.get("allow");
  stop.abort();
  return { status: answer.status, allow };
}

const served = ({ path }: Route): number => (path.endsWith("/none") ? 404 : 200);

function wanted(route: Route, method: string, scopes: readonly Scope[], state: State): number {
  if (!route.methods.includes(method)) return 405;
  if (!route.states.includes(state)) return 403;
  return route.scope === null || scopes.includes(route.scope) ? served(route) : 403;
}

for (const route of matrix) {
  test(`${route.path}: every method, for every audience in every state`, async () => {
    for (const method of methods) {
      for (const [audience, scopes] of Object.entries(audiences)) {
        for (const state of accountStates) {
          const who: TestPerson = testPerson({ scopes, state });
          const { status, allow } = await statusOf(who.headers, method, route, who.accountId);
          assert.equal(status, wanted(route, method, scopes, state), `${method}, ${audience}, ${state}`);
          if (status === 405) for (const each of route.methods) assert.ok(allow?.includes(each), `${allow}`);
        }
      }
      const isServed = route.methods.includes(method);
      const anybody = await statusOf({}, method, route);
      assert.equal(anybody.status, isServed ? (route.anonymous ? 200 : 401) : 405, `${method}, anybody`);
      const guess = await statusOf({ authorization: "Bearer guessed" }, method, route);
      assert.equal(guess.status, isServed ? 401 : 405, `${method}, a credential that is not good`);
    }
  });
}
