export type { FlagContext, FlagEvaluation } from "./flag-context.ts";
export { flagProblems } from "./flag-problems.ts";
export { FlagSet } from "./flag-set.ts";
