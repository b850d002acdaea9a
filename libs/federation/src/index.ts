export { openExecutor } from "./executor.ts";
export { areErrors, type Loss } from "./subgraphs/subgraph-port.ts";
export { objectsIn } from "./writing/introspection.ts";
