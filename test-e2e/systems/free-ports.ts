import { freePort } from "@signalbox/infra/engines/index.ts";

/** One free port per name. Taken one after the other, so that no two are the same. */
export async function freePorts(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const ports = new Map<string, number>();
  for (const name of names) {
    let port = await freePort();
    while ([...ports.values()].includes(port)) port = await freePort();
    ports.set(name, port);
  }
  return ports;
}
