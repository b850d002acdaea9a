import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { draft, type EventData, eventOf, topics } from "@signalbox/contracts";
import { openEventLog, publishEvents } from "@signalbox/events";
import { environment } from "@signalbox/runtime";
import { eventually, freePort, internalToken, startAccountStandIn, testDatabase, testPerson } from "@signalbox/testing";
import { benchParts } from "./bench-parts.ts";

const script = fileURLToPath(new URL("../services/config/src/main.ts", import.meta.url));
const person = testPerson({ roles: ["owner"], profile: { locale: "de", createdAtMs: 0 } });

/** The config service in a process of its own, with a hundred flags, and a caller. */
export interface ConfigService {
  readonly url: string;
  readonly pid: number;
  readonly accountId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the 99th percentile of its event loop's delay since the last call. */
  eventLoopP99Ms(): Promise<number>;
  /** Publishes an override for every instance. */
  override(property: string, value: number): Promise<void>;
  close(): Promise<void>;
}

export async function startConfigService(): Promise<ConfigService> {
  await using opened = new AsyncDisposableStack();
  const [database, events, account] = await Promise.all([testDatabase(), testDatabase(), startAccountStandIn()]);
  for (const part of [database, events, account]) opened.defer(() => part.close());
  const eventsUrl = events.url.replace(/^postgres(ql)?:/, "postgres:");
  const parts = { ...benchParts(), service: "config" as const };
  const eventLog = await openEventLog(eventsUrl, { clientId: "bench", ...parts });
  opened.defer(() => eventLog.close());
  await eventLog.ensureTopics(topics);
  let revision = 0;
  const publish = (event: Parameters<typeof publishEvents>[1][number]) =>
    publishEvents({ ...parts, eventLog }, [event]);
  for (let at = 0; at < 100; at++) await publish(flagOf(at, ++revision));

  const ports = [await freePort(), await freePort(), await freePort()].map(String);
  const process = spawnService({
    "database.url": database.url,
    "events.url": eventsUrl,
    "account.internal-url": account.url,
    "internal.token": internalToken,
    "http.base-url": "http://127.0.0.1",
    "http.port": ports[0],
    "internal.port": ports[1],
    "management.server.port": ports[2],
    "http.rate-limit.credential.requests": "1000000",
    "http.rate-limit.account.requests": "1000000",
    "http.rate-limit.credential.burst": "1000000",
    "config.streams.max-per-credential": "1000000",
  });
  opened.defer(async () => {
    if (process.exitCode !== null) return;
    process.kill("SIGTERM");
    await once(process, "exit");
  });
  const ready = `http://127.0.0.1:${ports[2]}/management/health/ready`;
  await eventually(async () => (await fetch(ready)).ok, { timeoutMs: 60_000, message: "the service is ready" });
  const closes = opened.move();
  return {
    url: `http://127.0.0.1:${ports[0]}`,
    pid: process.pid as number,
    accountId: person.accountId,
    headers: person.headers,
    eventLoopP99Ms: async () => {
      const text = await (await fetch(`http://127.0.0.1:${ports[2]}/management/metrics`)).text();
      return Math.round(Number(/^nodejs_eventloop_lag_p99_seconds(?:\{[^}]*\})? (\S+)/m.exec(text)?.[1]) * 10_000) / 10;
    },
    override: (property, value) => publish(overrideOf(property, value, ++revision)),
    close: () => closes.disposeAsync(),
  };
}

/** Builds a flag with five rules, of which the last matches half of the accounts. */
export function definitionOf(key: string): NonNullable<EventData<"flag.changed">["definition"]> {
  const never = [{ accounts: ["acc_other"] }, { locales: ["fr"] }, { roles: ["viewer" as const] }, { age: { to: 1 } }];
  const rules = [...never, { percentage: 50 }].map((rule) => ({ ...rule, variant: "on" }));
  return {
    ...(eventOf("flag.changed").example.definition as NonNullable<EventData<"flag.changed">["definition"]>),
    key,
    rules,
    salt: key,
  };
}

function flagOf(at: number, revision: number) {
  const key = `flag${at}`;
  const data = { ...eventOf("flag.changed").example, flag: key, definition: definitionOf(key), revision };
  return draft("flag.changed", { subject: `flag:${key}`, accountId: null, data });
}

function overrideOf(property: string, value: number, revision: number) {
  const data = { ...eventOf("config.changed").example, property, value, revision };
  return draft("config.changed", { subject: property, accountId: null, data });
}

/** Starts the service with the request log enabled and discarded. */
function spawnService(properties: Readonly<Record<string, string | undefined>>) {
  const variable = (name: string) => `SIGNALBOX_${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
  const own = Object.fromEntries(Object.entries(properties).map(([name, value]) => [variable(name), value]));
  return spawn(process.execPath, [script], {
    env: { ...environment(), ...own },
    stdio: ["ignore", "ignore", "inherit"],
  });
}
