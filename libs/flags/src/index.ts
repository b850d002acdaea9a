export { bucketOf, isWithin } from "./bucket.ts";
export type { FlagContext, FlagEvaluation, FlagReason } from "./flag-context.ts";
export { type FlagProblem, flagProblems } from "./flag-problems.ts";
export { FlagSet } from "./flag-set.ts";
