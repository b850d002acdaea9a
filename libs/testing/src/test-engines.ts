import type { EngineName } from "@signalbox/infra/engines/engine.ts";
import { type Endpoint, type Endpoints, readEndpoints } from "@signalbox/infra/engines/engine-set.ts";
import { sharedEngineStates, startSharedEngines } from "@signalbox/infra/engines/shared-engines.ts";
import { environment } from "@signalbox/runtime";

const known = new Map<EngineName, Promise<Endpoint>>();

/**
 * Returns the address of a shared engine: from the file in `TEST_ENGINES_FILE`, else of this clone's engine, which is
 * started when it does not run. A missing engine fails the test with the command that installs it.
 */
export async function endpointOf(name: EngineName): Promise<Endpoint> {
  const found = known.get(name) ?? findEndpoint(name);
  known.set(name, found);
  return await found;
}

async function findEndpoint(name: EngineName): Promise<Endpoint> {
  const endpoint = (await findEndpoints(name))[name];
  if (!endpoint) throw new Error(`the file named by TEST_ENGINES_FILE has no entry "${name}"`);
  return endpoint;
}

async function findEndpoints(name: EngineName): Promise<Endpoints> {
  const file = environment().TEST_ENGINES_FILE;
  if (file) return await readEndpoints(file);
  const states = await sharedEngineStates();
  const isRunning = states.some((one) => one.name === name && one.state === "running");
  return isRunning ? await readEndpoints() : await startSharedEngines(() => {}, [name]);
}
