import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { Authenticator, Principal } from "@signalbox/auth";
import { type Scope, scopes } from "@signalbox/contracts";
import { AppError, type Clock, systemClock } from "@signalbox/core";
import { createLogger, createMetrics, createTracer, loadConfiguration } from "@signalbox/runtime";
import type { RateLimiter } from "@signalbox/storage";
import { createHttpApp, type HttpAppOptions } from "../src/app/create-http-app.ts";
import type { RateLimits } from "../src/limits/rate-limits.ts";
import type { WorkLimits } from "../src/limits/work-limits.ts";
import type { HttpContext } from "../src/request/http-properties.ts";
import { httpProperties } from "../src/request/http-properties.ts";
import type { Routes } from "../src/routes/create-routes.ts";

/** One line of the request log. */
type LogLine = Record<string, unknown>;

/** Creates a context whose log lines can be read. `settings` are properties, as `--name=value`. */
export function testContext(settings: readonly string[] = [], clock: Clock = systemClock) {
  const lines: LogLine[] = [];
  const context: HttpContext = {
    service: "account",
    configuration: loadConfiguration({
      service: "account",
      properties: httpProperties,
      argv: settings,
      environment: {},
      directory: null,
    }),
    log: createLogger({
      service: "account",
      instance: "test",
      level: "debug",
      destination: { write: (line) => void lines.push(JSON.parse(line) as LogLine) },
    }),
    tracer: createTracer("account"),
    metrics: createMetrics({ service: "account" }),
    clock,
  };
  return { context, lines };
}

/** Creates a principal, by default with every scope. */
export function testPrincipal(changes: Partial<Principal> & { only?: readonly Scope[] } = {}): Principal {
  const { only = scopes, ...rest } = changes;
  return {
    accountId: "acc_1",
    state: "active",
    epoch: 1,
    scopes: new Set(only),
    roles: [],
    credential: { kind: "api-key", id: "key_1", authTimeMs: null },
    expiresAt: null,
    ...rest,
  };
}

/** Accepts the given credentials and refuses every other. */
function testAuthenticator(principals: Readonly<Record<string, Principal>>): Authenticator {
  return {
    authenticate: async ({ value }) => {
      const principal = principals[value];
      if (principal) return principal;
      throw new AppError("unauthorized", "The credential is not valid.");
    },
    remembered: ({ value }) => principals[value] ?? null,
  };
}

/** Creates a limiter that counts by key and never forgets. */
export function testLimiter(name: string, limit: number): RateLimiter {
  const counts = new Map<string, number>();
  return {
    policy: { name, limit, windowMs: 10_000 },
    take: (key, cost = 1) => {
      const count = (counts.get(key) ?? 0) + cost;
      counts.set(key, count);
      return { allowed: count <= limit, limit, remaining: limit - count, resetSeconds: 7 };
    },
  };
}

/** Limits that no test reaches by accident. */
export function testLimits(changes: Partial<RateLimits> = {}): RateLimits {
  return {
    credentialBurst: testLimiter("credential-burst", 1_000_000),
    credential: testLimiter("credential", 1_000_000),
    account: testLimiter("account", 1_000_000),
    anonymous: testLimiter("anonymous", 1_000_000),
    failedSignIn: testLimiter("failed-sign-in", 1_000_000),
    named: {},
    work: testWork(1_000_000_000),
    ...changes,
  };
}

/** Creates work budgets of so many bytes, and as many milliseconds. */
export function testWork(limit: number): WorkLimits {
  const [bytes, processorTime] = [testLimiter("bytes", limit), testLimiter("processor-time", limit)];
  return { credential: { bytes, processorTime }, anonymous: { bytes, processorTime } };
}

/** Serves a listener on a free port until the test ends. */
export async function serveTest(t: TestContext, listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, server };
}

/** Serves a route table in strict mode. The credential `good` has every scope. */
export async function serveRoutes(
  t: TestContext,
  routes: Routes,
  options: Partial<HttpAppOptions> & {
    settings?: readonly string[];
    principals?: Record<string, Principal>;
    clock?: Clock;
  } = {},
) {
  const { settings = [], principals = { good: testPrincipal() }, clock, ...rest } = options;
  const { context, lines } = testContext(settings, clock);
  const app = createHttpApp({
    context,
    routes,
    authenticator: testAuthenticator(principals),
    rateLimits: testLimits(),
    strict: true,
    ...rest,
  });
  const { url, port, server } = await serveTest(t, app);
  const request = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization") && !headers.has("x-api-key")) headers.set("authorization", "Bearer good");
    return fetch(url + path, { redirect: "manual", ...init, headers });
  };
  const json = (path: string, method: string, body: unknown, headers: Record<string, string> = {}) =>
    request(path, {
      method,
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    });
  return { url, port, server, request, json, lines, context };
}

/** Reads the body of a refusal. */
export async function errorOf(response: Response) {
  const { error } = (await response.json()) as {
    error: {
      code: string;
      message: string;
      field?: string;
      request_id: string;
      correlationId?: string;
      details?: { field: string; code: string; message: string }[];
    };
  };
  return error;
}
