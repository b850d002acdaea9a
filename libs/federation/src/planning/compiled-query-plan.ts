import type { FetchDataRewrite, FetchNode, PlanNode, QueryPlan, SubscriptionNode } from "@apollo/query-planner";
import {
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
} from "graphql";
import { PlanScope } from "./plan-scope.ts";
import { createRepresentation, type Representation } from "./representation.ts";

/** A fetch, ready to be sent. */
export interface FetchStep {
  readonly kind: "fetch";
  /** Number of the fetch in the plan; its result is linked to its objects under this number. */
  readonly index: number;
  readonly subgraph: string;
  readonly isMutation: boolean;
  /** The beginning of the request body, up to the variables. */
  readonly bodyStart: string;
  readonly variableNames: readonly string[];
  /** Path of names to the objects of the fetch. */
  readonly path: readonly string[];
  /** Null for a fetch that starts at the root. */
  readonly representation: Representation | null;
}

export type PlanStep = FetchStep | { readonly kind: "sequence" | "parallel"; readonly steps: readonly PlanStep[] };

export interface CompiledPlan {
  readonly root: PlanScope;
  readonly step: PlanStep | null;
  readonly fetches: readonly FetchStep[];
  /** The unsupported part, which needs another executor; null for a plan that can run here. */
  readonly uncovered: string | null;
  readonly operationsLength: number;
}

/** A feature of a plan that only Apollo's executor supports. */
class Uncovered extends Error {}

/** Compiles a plan: the order of its fetches, and the source of each field of the answer. */
export function compilePlan({ node }: QueryPlan, supergraph: GraphQLSchema): CompiledPlan {
  const compiler = new PlanCompiler(supergraph);
  try {
    const step = node ? compiler.stepOf(node, []) : null;
    compiler.root.settle();
    return { root: compiler.root, step, fetches: compiler.fetches, uncovered: null, ...compiler.measures };
  } catch (error) {
    if (!(error instanceof Uncovered)) throw error;
    return { root: compiler.root, step: null, fetches: [], uncovered: error.message, ...compiler.measures };
  }
}

class PlanCompiler {
  readonly root = new PlanScope();
  readonly fetches: FetchStep[] = [];
  readonly measures = { operationsLength: 0 };
  readonly #supergraph: GraphQLSchema;

  constructor(supergraph: GraphQLSchema) {
    this.#supergraph = supergraph;
  }

  stepOf(node: PlanNode | SubscriptionNode, path: readonly string[]): PlanStep {
    switch (node.kind) {
      case "Sequence":
        return { kind: "sequence", steps: node.nodes.map((inner) => this.stepOf(inner, path)) };
      case "Parallel":
        return { kind: "parallel", steps: node.nodes.map((inner) => this.stepOf(inner, path)) };
      case "Flatten":
        return this.stepOf(node.node, [...path, ...namesOf(node.path)]);
      case "Fetch":
        return this.#fetchOf(node, path);
      default:
        throw new Uncovered(node.kind);
    }
  }

  #fetchOf(node: FetchNode, path: readonly string[]): FetchStep {
    if (node.outputRewrites?.length || node.contextRewrites?.length) throw new Uncovered("rewrites of answers");
    const index = this.fetches.length;
    const scope = path.reduce((above, name) => above.belowField(name), this.root);
    const fetch: FetchStep = {
      kind: "fetch",
      index,
      subgraph: node.serviceName,
      isMutation: node.operationKind === "mutation",
      bodyStart: `{"query":${JSON.stringify(node.operation)},"variables":{`,
      variableNames: node.variableUsages ?? [],
      path,
      representation: node.requires
        ? createRepresentation(this.#supergraph, node.requires, typeRewritesOf(node.inputRewrites))
        : null,
    };
    this.fetches.push(fetch);
    this.measures.operationsLength += node.operation.length;
    this.#addSources(node, index, scope);
    return fetch;
  }

  #addSources(node: FetchNode, index: number, scope: PlanScope): void {
    const { definitions } = parse(node.operation, { noLocation: true });
    const fragments = new Map(
      definitions
        .filter((definition): definition is FragmentDefinitionNode => definition.kind === Kind.FRAGMENT_DEFINITION)
        .map((definition) => [definition.name.value, definition]),
    );
    const operation = definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION) as OperationDefinitionNode;
    const [first] = operation.selectionSet.selections;
    const isOfEntities = node.requires && first?.kind === Kind.FIELD && first.selectionSet;
    const selections = isOfEntities ? isOfEntities : operation.selectionSet;
    addFields(scope, scope.addLink(index), selections, fragments);
  }
}

function addFields(
  scope: PlanScope,
  source: ReturnType<PlanScope["addLink"]>,
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): void {
  for (const selection of selections) {
    if (selection.directives?.length) throw new Uncovered("directives in a fetch");
    if (selection.kind === Kind.FIELD) {
      const name = (selection.alias ?? selection.name).value;
      scope.addField(name, source);
      if (!selection.selectionSet) continue;
      const child = scope.belowField(name);
      addFields(child, child.addBase(source, name), selection.selectionSet, fragments);
    } else {
      const inner = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
      if (inner) addFields(scope, source, inner.selectionSet, fragments);
    }
  }
}

/** Returns the names of a path; indexes are dropped, because the walk finds lists in the data. */
function namesOf(path: readonly (string | number)[]): string[] {
  return path.flatMap((name) => {
    if (name === "@") return [];
    if (typeof name !== "string" || !/^\w+$/.test(name)) throw new Uncovered(`the path ${path.join(".")}`);
    return [name];
  });
}

/** Maps types to the interface under which a subgraph knows an entity. */
function typeRewritesOf(rewrites: readonly FetchDataRewrite[] = []): ReadonlyMap<string, string> {
  return new Map(
    rewrites.map((rewrite) => {
      const [type = "", name] = rewrite.path;
      const isOfType = rewrite.kind === "ValueSetter" && rewrite.path.length === 2 && name === "__typename";
      if (!isOfType || !type.startsWith("... on ")) throw new Uncovered(`a rewrite of ${rewrite.path.join(".")}`);
      return [type.slice("... on ".length), String(rewrite.setValueTo)];
    }),
  );
}
