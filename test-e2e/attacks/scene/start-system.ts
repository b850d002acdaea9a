import { randomBytes } from "node:crypto";
import { type EmbeddedSystem, removeData, startEmbeddedSystem } from "../../systems/embedded-system.ts";
import { services, startEnginesSystem } from "../../systems/engines-system.ts";
import { environmentOf, runCommand } from "../../systems/service-process.ts";
import { freePorts } from "../../systems/start-nginx.ts";
import type { System } from "../../systems/system.ts";

export const modes = ["embedded", "engines"] as const;
export type Mode = (typeof modes)[number];

/** A system with the output of its processes. */
export interface Attacked extends System {
  /** Returns the output of all processes so far. */
  output(): string;
  /** Makes a link for the first administrator, which ends the earlier one. */
  firstLink(): Promise<string>;
}

interface Start {
  readonly properties: Readonly<Record<string, string>>;
  /** The name by which browsers reach it: they allow passkeys at a name alone. An address when absent. */
  readonly host?: "localhost";
}

/** Starts a system in one of both modes; it ends with the stack. */
export async function startAttacked(mode: Mode, opened: AsyncDisposableStack, start: Start): Promise<Attacked> {
  if (mode === "embedded") return startEmbedded(opened, start);
  const system = await startEnginesSystem(start);
  opened.defer(() => system.close());
  const printed = (name: (typeof services)[number]) =>
    system.process(name).current.stdout + system.process(name).current.stderr;
  return { ...system, output: () => services.map(printed).join("") };
}

/** Starts everything in one process. */
export async function startEmbedded(
  opened: AsyncDisposableStack,
  { properties, host }: Start,
): Promise<Attacked & EmbeddedSystem> {
  const port = String((await freePorts(["http"])).get("http"));
  const named = host && { "http.port": port, "http.base-url": `http://${host}:${port}` };
  const system = await startEmbeddedSystem({ properties: { ...properties, ...named } });
  opened.defer(() => removeData(system));
  opened.defer(async () => void (await system.process.kill()));
  const job = environmentOf({
    "database.url": system.databaseUrl("account"),
    "events.url": system.eventsUrl,
    "http.base-url": system.baseUrl,
    // The job seals nothing, and asks no other service.
    "secrets.keys": `k1:${randomBytes(32).toString("base64")}`,
    "internal.token": randomBytes(32).toString("base64url"),
  });
  return {
    ...system,
    output: () => system.process.stdout + system.process.stderr,
    firstLink: () => runCommand("services/account/src/first-link-cli.ts", [], job),
  };
}
