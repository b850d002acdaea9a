export { requiredFields } from "./documents/canonical-operation.ts";
export { openExecutor } from "./executor.ts";
export type { PlanCaller } from "./planning/plan-store.ts";
export { plannerSupergraph } from "./planning/planner-supergraph.ts";
export { areErrors, type Loss } from "./subgraphs/subgraph-port.ts";
export { objectsIn } from "./writing/introspection.ts";
