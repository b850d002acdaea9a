import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testDatabase } from "@signalbox/testing";
import { createClient, expectStatus } from "../journey/client.ts";
import { environmentOf, runCommand, startServiceProcess } from "../systems/service-process.ts";
import { freePorts } from "../systems/start-nginx.ts";

export const names = ["account", "config"] as const;
type Name = (typeof names)[number];
type Properties = Readonly<Record<string, string>>;

/** Two services, one of which asks the other for every unknown caller, each with its own properties. */
export interface TwoServices {
  readonly databaseUrls: Readonly<Record<Name, string>>;
  /** Restarts a service with other values for some of its properties. */
  restart(name: Name, properties: Properties): Promise<void>;
  /** Calls the second service as a new person; returns the status. */
  asNewcomer(): Promise<number>;
}

export async function startTwoServices(opened: AsyncDisposableStack, first: Properties): Promise<TwoServices> {
  const [account, config, log] = [await testDatabase(), await testDatabase(), await testDatabase()];
  opened.defer(async () => void (await Promise.all([account, config, log].map((database) => database.close()))));
  const copies = await mkdtemp(join(tmpdir(), "signalbox-copies-"));
  opened.defer(() => rm(copies, { recursive: true, force: true }));
  const ports = await freePorts(names.flatMap((name) => [`${name} http`, `${name} internal`]));
  const databaseUrls = { account: account.url, config: config.url };
  const urlOf = (name: Name, listener: "http" | "internal") => `http://127.0.0.1:${ports.get(`${name} ${listener}`)}`;
  const given: Record<Name, Properties> = { account: first, config: first };
  const environment = (name: Name) =>
    environmentOf({
      "events.url": log.url,
      "account.internal-url": urlOf("account", "internal"),
      "secrets.keys": `k1:${Buffer.alloc(32, 3).toString("base64")}`,
      "http.base-url": urlOf("account", "http"),
      "mail.url": "log:",
      "config.copy-directory": copies,
      "log.level": "info",
      "database.url": databaseUrls[name],
      "http.port": `${ports.get(`${name} http`)}`,
      "internal.port": `${ports.get(`${name} internal`)}`,
      "management.server.port": "0",
      ...given[name],
    });
  await runCommand("infra/kafka/topics.ts", [`--events.url=${log.url}`]);
  const processes = new Map(names.map((name) => [name, startServiceProcess(name, environment(name))]));
  opened.defer(async () => void (await Promise.all([...processes.values()].map(({ current }) => current.kill()))));
  await Promise.all([...processes.values()].map((process) => process.ready()));
  const apiKey = await runCommand("services/account/src/first-key-cli.ts", [], environment("account"));
  const send = createClient(urlOf("account", "http"), apiKey);
  return {
    databaseUrls,
    async restart(name, properties) {
      given[name] = { ...given[name], ...properties };
      const former = processes.get(name)?.current;
      former?.signal("SIGTERM");
      await former?.exited;
      const process = startServiceProcess(name, environment(name));
      processes.set(name, process);
      await process.ready();
    },
    async asNewcomer() {
      const body = { name: randomBytes(4).toString("hex"), scopes: ["config:read"] };
      const { id, key } = expectStatus(await send("/api/account/api-keys/", { body }), 201).json;
      const { status } = await createClient(urlOf("config", "http"), key)("/api/v1/config");
      expectStatus(await send(`/api/account/api-keys/${id}`, { method: "DELETE" }), 204);
      return status;
    },
  };
}
