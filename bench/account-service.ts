import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { environment } from "@signalbox/config";
import { topics } from "@signalbox/contracts";
import { openEventLog } from "@signalbox/events";
import { createOidcIssuer, eventually, freePort, type OidcIssuer, testDatabase } from "@signalbox/testing";
import { benchParts } from "./bench-parts.ts";

const script = fileURLToPath(new URL("../services/account/src/main.ts", import.meta.url));

/** The account service in a process of its own, with accounts. */
export interface AccountService {
  readonly url: string;
  readonly pid: number;
  readonly accounts: readonly BenchAccount[];
  close(): Promise<void>;
}

/** An account whose credentials outlive the bench. */
interface BenchAccount {
  readonly authorization: string;
  readonly apiKey: string;
  readonly etag: string;
}

/** Starts it on PostgreSQL, with the event log of the embedded mode, and signs in to `accounts` new accounts. */
export async function startAccountService({ accounts }: { accounts: number }): Promise<AccountService> {
  await using opened = new AsyncDisposableStack();
  const [database, events, issuer] = await Promise.all([testDatabase(), testDatabase(), createOidcIssuer()]);
  for (const part of [database, events, issuer]) opened.defer(() => part.close());
  const eventsUrl = events.url.replace(/^postgres(ql)?:/, "postgres:");
  const log = await openEventLog(eventsUrl, { clientId: "bench", ...benchParts() });
  await log.ensureTopics(topics);
  await log.close();

  const ports = { http: await freePort(), internal: await freePort(), management: await freePort() };
  const process = start({
    "database.url": database.url,
    "events.url": eventsUrl,
    "internal.token": randomBytes(32).toString("base64url"),
    "secrets.keys": `k1:${randomBytes(32).toString("base64")}`,
    "auth.issuers": JSON.stringify([{ name: "bench", issuer: issuer.issuer, audience: issuer.audience }]),
    "http.port": String(ports.http),
    "internal.port": String(ports.internal),
    "management.server.port": String(ports.management),
    // The bench measures the work, not the rate limit.
    "http.rate-limit.credential.requests": "1000000",
    "http.rate-limit.credential.burst": "1000000",
    "http.rate-limit.account.requests": "1000000",
  });
  opened.defer(() => stop(process));
  const management = `http://127.0.0.1:${ports.management}/management/health/ready`;
  await eventually(async () => (await fetch(management)).ok, { timeoutMs: 30_000, message: "the service is ready" });

  const url = `http://127.0.0.1:${ports.http}`;
  const signedIn: BenchAccount[] = [];
  while (signedIn.length < accounts) signedIn.push(await signIn(url, issuer));
  const closes = opened.move();
  return { url, pid: process.pid as number, accounts: signedIn, close: () => closes.disposeAsync() };
}

/** Creates an account by the first use of a token. */
async function signIn(url: string, issuer: OidcIssuer): Promise<BenchAccount> {
  const claims = { scope: "account:read account:write account:security", auth_time: Math.floor(Date.now() / 1000) };
  const token = issuer.sign({ ...claims, sub: crypto.randomUUID() }, { expiresInSeconds: 3600 });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const account = await answered(fetch(`${url}/api/account/`, { headers }));
  const body = JSON.stringify({ name: "Bench", scopes: ["account:read"] });
  const key = await answered(fetch(`${url}/api/account/api-keys/`, { method: "POST", headers, body }));
  const { key: apiKey } = (await key.json()) as { key: string };
  return { authorization: headers.authorization, apiKey, etag: account.headers.get("etag") ?? "" };
}

async function answered(answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`);
  return response;
}

/** Starts the service with the request log enabled and discarded. */
function start(properties: Readonly<Record<string, string>>): ChildProcess {
  const variable = (name: string) => `SIGNALBOX_${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
  const own = Object.fromEntries(Object.entries(properties).map(([name, value]) => [variable(name), value]));
  return spawn(process.execPath, [script], {
    env: { ...environment(), ...own },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

async function stop(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null) return;
  const exited = once(process, "exit");
  process.kill("SIGTERM");
  await exited;
}
