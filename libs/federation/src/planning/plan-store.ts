import type { GraphQLSchema } from "graphql";
import { LRUCache } from "lru-cache";
import { type CompiledPlan, compilePlan } from "./compiled-plan.ts";
import type { Planner } from "./planner.ts";

/** Estimate of a compiled plan's bytes for each character of its fetches. */
const bytesPerCharacter = 40;
const entryBytes = 2_048;

/** @throws PlanRefused */
export type PlanOf = (text: string) => CompiledPlan | Promise<CompiledPlan>;

/** Caches the plans of canonical operations, each planned once; requests for a plan in progress wait for it. */
export function createPlanStore(planner: Pick<Planner, "plan">, supergraph: GraphQLSchema, bytesMax: number): PlanOf {
  const plans = new LRUCache<string, CompiledPlan>({
    maxSize: bytesMax,
    sizeCalculation: ({ operationsLength }, text) => entryBytes + bytesPerCharacter * (operationsLength + text.length),
  });
  const beingMade = new Map<string, Promise<CompiledPlan>>();

  return (text) => {
    const known = plans.get(text) ?? beingMade.get(text);
    if (known) return known;
    const made = makePlan(text).finally(() => beingMade.delete(text));
    beingMade.set(text, made);
    return made;
  };

  async function makePlan(text: string): Promise<CompiledPlan> {
    const plan = compilePlan(await planner.plan(text), supergraph);
    plans.set(text, plan);
    return plan;
  }
}
