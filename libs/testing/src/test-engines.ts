import { environment } from "@signalbox/config";
import {
  type Endpoint,
  type Endpoints,
  type EngineName,
  readEndpoints,
  sharedEngineStates,
  startSharedEngines,
} from "@signalbox/infra/engines/index.ts";

let known: Promise<Endpoints> | null = null;

/**
 * The address of a shared engine: from the file named by `TEST_ENGINES_FILE`, else of the engines of this clone,
 * which are started when they do not run. An engine that is absent fails the test with the command that installs it.
 */
export async function endpointOf(name: EngineName): Promise<Endpoint> {
  known ??= findEndpoints();
  const endpoint = (await known)[name];
  if (!endpoint) throw new Error(`the file named by TEST_ENGINES_FILE has no entry "${name}"`);
  return endpoint;
}

async function findEndpoints(): Promise<Endpoints> {
  const file = environment().TEST_ENGINES_FILE;
  if (file) return await readEndpoints(file);
  const states = await sharedEngineStates();
  if (states.every(({ state }) => state === "running")) return await readEndpoints();
  return await startSharedEngines(() => {});
}
