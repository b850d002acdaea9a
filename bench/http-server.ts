import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { AccessStates, Principal } from "@signalbox/auth";
import type { RateLimitPolicy } from "@signalbox/cache";
import { AccountResource, accountExample, scopes } from "@signalbox/contracts";
import { systemClock } from "@signalbox/core";

/** Run by `http.ts`, one process per variant. */
const [variant = "bare", etag = ""] = process.argv.slice(2);

/** The same work for all variants: an account by id. */
const accountOf = (id: string) => ({ ...accountExample, id });

async function bare(): Promise<RequestListener> {
  const { default: express } = await import("express");
  const app = express();
  app.get("/accounts/:account_id", (request, response) => {
    response.json(accountOf(request.params.account_id));
  });
  return app as unknown as RequestListener;
}

async function typed(exporting: boolean): Promise<RequestListener> {
  const telemetry = await import("@signalbox/telemetry");
  if (exporting) {
    await telemetry.startTelemetry({ service: "account", version: "bench", otlpEndpoint: await discardingReceiver() });
  }
  const { createHttpApp, createRateLimits, createRoutes, httpProperties, ok } = await import("@signalbox/http");
  const { createAuthenticator } = await import("@signalbox/auth");
  const { createRateLimiters, openCache } = await import("@signalbox/cache");
  const { loadConfiguration } = await import("@signalbox/config");
  const log = telemetry.createLogger({ service: "account", instance: "bench", level: "info" });
  const metrics = telemetry.createMetrics({ service: "account" });
  const argv = ["credential", "account"].map((kind) => `--http.rate-limit.${kind}.requests=1000000`);
  const configuration = loadConfiguration({
    service: "account",
    properties: httpProperties,
    argv,
    environment: {},
    directory: null,
  });
  const tracer = telemetry.createTracer("account");
  const context = { service: "account" as const, configuration, log, metrics, tracer, clock: systemClock };
  const runner = { defer: () => {}, worker: () => {}, onDrain: () => {}, stopping: new AbortController().signal };
  const cache = await openCache({ url: "memory:", runner, log, metrics, clock: systemClock });
  const limiters = createRateLimiters(systemClock);
  const limiterOf = (policy: RateLimitPolicy) => limiters(policy, cache);
  const routes = createRoutes();
  routes.get("/accounts/:account_id", {
    summary: "An account",
    auth: { scopes: ["account:read"] },
    responses: { 200: AccountResource },
    handle: ({ params }) => ok(accountOf(params.account_id), { etag }),
  });
  const authenticator = createAuthenticator({
    principals: { resolve: async () => principal },
    accessStates,
    clock: systemClock,
    metrics,
    cacheMax: 1000,
  });
  return createHttpApp({ context, routes, authenticator, rateLimits: createRateLimits({ context, limiterOf }) });
}

const principal: Principal = {
  accountId: accountExample.id,
  state: "active",
  epoch: 1,
  scopes: new Set(scopes),
  roles: [],
  credential: { kind: "token", id: "jti:bench", authTimeMs: null },
  expiresAt: null,
};

const accessStates: Pick<AccessStates, "stateOf" | "isRevoked" | "epochOfCredential" | "isCaughtUp" | "isBehind"> = {
  stateOf: () => null,
  isRevoked: () => false,
  epochOfCredential: () => 0,
  isCaughtUp: () => true,
  isBehind: () => false,
};

/** Starts a receiver that discards spans. */
async function discardingReceiver(): Promise<string> {
  return listen((request, response) => {
    request.resume();
    request.on("end", () => response.end());
  });
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const listener = variant === "bare" ? await bare() : await typed(variant === "typed-exporting");
const url = await listen(listener);
process.on("message", (question) => {
  const { user, system } = process.cpuUsage();
  process.send?.(question === "url" ? { url: `${url}/accounts/acc_1` } : { cpuMicros: user + system });
});
