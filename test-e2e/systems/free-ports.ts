import { freePort } from "@signalbox/infra/engines/index.ts";

/** Returns one free port per name. */
export async function freePorts(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  return new Map(await Promise.all(names.map(async (name) => [name, await freePort()] as const)));
}
