import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from "graphql";
import { LRUCache } from "lru-cache";
import type { Variables } from "./documents/argument-values.ts";
import { type CanonicalOperation, type CanonicalRules, canonicalOperation } from "./documents/canonical-operation.ts";
import { conditionsOf, printConditions } from "./documents/conditions.ts";
import { type CompiledPlan, compilePlan } from "./planning/compiled-query-plan.ts";
import type { PlanCaller, PlanStore } from "./planning/plan-store.ts";
import { TypeNames } from "./planning/representation.ts";
import { SelectionWriter } from "./writing/selection-writer.ts";

/** An operation with `@skip` and `@include` applied, ready to run with any other variables. */
interface PreparedOperation {
  readonly canonical: CanonicalOperation;
  readonly plan: CompiledPlan;
  readonly writer: SelectionWriter;
}

/** Estimate: the closures of one field, with the data they hold. */
const bytesPerField = 1_400;
const entryBytes = 2_048;

/** Prepares documents for execution, and caches those in use. */
export function createPreparation({
  supergraph,
  plans,
  bytesMax,
  ...rules
}: CanonicalRules & {
  readonly supergraph: GraphQLSchema;
  readonly plans: PlanStore;
  readonly bytesMax: number;
}) {
  const types = new TypeNames(supergraph);
  const unplanned = compilePlan({ kind: "QueryPlan" }, supergraph);
  const prepared = new LRUCache<string, PreparedOperation>({
    maxSize: bytesMax,
    sizeCalculation: ({ canonical }, key) => entryBytes + 2 * key.length + bytesPerField * canonical.fieldCount,
  });

  /** @throws PlanRefused, and what the caller's `admit` throws */
  return async function prepare(
    text: string,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Variables,
    caller: PlanCaller,
  ): Promise<PreparedOperation> {
    const conditions = conditionsOf(document, operation, variables);
    const key = `${operation.name?.value ?? ""} ${printConditions(conditions)} ${text}`;
    const known = prepared.get(key);
    if (known) return known;
    const canonical = canonicalOperation(rules, document, operation, conditions);
    const plan = canonical.text === null ? unplanned : await plans.planOf(canonical.text, caller);
    const made = { canonical, plan, writer: writerOf(canonical, plan, operation) };
    prepared.set(key, made);
    return made;
  };

  function writerOf(
    canonical: CanonicalOperation,
    { root, fetches }: CompiledPlan,
    operation: OperationDefinitionNode,
  ) {
    const type = rules.schema.getRootType(operation.operation);
    if (!type) throw new Error(`there is no root type for a ${operation.operation}`);
    const subgraphOf = (fetch: number) => fetches[fetch]?.subgraph ?? "";
    return new SelectionWriter({ schema: rules.schema, types, subgraphOf }, canonical.asked, root, type);
  }
}
