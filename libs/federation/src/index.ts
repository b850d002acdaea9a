export { openExecutor } from "./executor.ts";
export type { Loss } from "./running/subgraph-port.ts";
