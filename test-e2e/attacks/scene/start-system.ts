import { startEmbeddedIn } from "../../systems/embedded-system.ts";
import { services, startEnginesSystem } from "../../systems/engines-system.ts";
import type { System } from "../../systems/system.ts";

export const modes = ["embedded", "engines"] as const;
export type Mode = (typeof modes)[number];

/** A system with the output of its processes. */
export interface Attacked extends System {
  /** Returns the output of all processes so far. */
  output(): string;
}

/** Starts a system in one of both modes; it ends with the stack. */
export async function startAttacked(
  mode: Mode,
  opened: AsyncDisposableStack,
  properties: Readonly<Record<string, string>>,
): Promise<Attacked> {
  if (mode === "embedded") {
    const system = await startEmbeddedIn(opened, properties);
    return { ...system, output: () => system.process.stdout + system.process.stderr };
  }
  const system = await startEnginesSystem({ properties });
  opened.defer(() => system.close());
  const printed = (name: (typeof services)[number]) =>
    system.process(name).current.stdout + system.process(name).current.stderr;
  return { ...system, output: () => services.map(printed).join("") };
}
