export {
  type Engine,
  EngineAbsentError,
  type EngineName,
  type EnginePlace,
  type KafkaMember,
  type RunningEngine,
} from "./engine.ts";
export { enginesFolder, repositoryFolder } from "./engine-folders.ts";
export { type Endpoint, type Endpoints, endpointsFile, readEndpoints } from "./engine-set.ts";
export { engineNamed, engines, sharedEngines } from "./engines.ts";
export { withFileLock } from "./file-lock.ts";
export { freePort } from "./free-port.ts";
export { newClusterId, runKafkaTool } from "./kafka/kafka.ts";
export { type OwnEngine, startOwnEngine } from "./own-engines.ts";
export {
  findPostgresUrl,
  type PostgresOptions,
  type RunningPostgres,
  startPostgres,
} from "./postgres/start-postgres.ts";
export { sharedEngineStates, startSharedEngines, withSharedEngines } from "./shared-engines.ts";
