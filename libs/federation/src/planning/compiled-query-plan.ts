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
  /** Aliases that keep fields of one name and different types apart in the request, and their response names. */
  readonly aliases: Aliases;
}

export type Aliases = ReadonlyMap<string, string>;

export type PlanStep = FetchStep | { readonly kind: "sequence" | "parallel"; readonly steps: readonly PlanStep[] };

export interface CompiledPlan {
  readonly root: PlanScope;
  readonly step: PlanStep | null;
  readonly fetches: readonly FetchStep[];
  readonly operationsLength: number;
}

/**
 * Compiles a plan: the order of its fetches, and the source of each field of the answer.
 *
 * @throws Error for what no plan of a supergraph has that was opened
 */
export function compilePlan({ node }: QueryPlan, supergraph: GraphQLSchema): CompiledPlan {
  const compiler = new PlanCompiler(supergraph);
  const step = node ? compiler.stepOf(node, []) : null;
  compiler.root.settle();
  return { root: compiler.root, step, fetches: compiler.fetches, ...compiler.measures };
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
        throw new Error(`a plan has a ${node.kind}`);
    }
  }

  #fetchOf(node: FetchNode, path: readonly string[]): FetchStep {
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
      aliases: aliasesOf(node.outputRewrites),
    };
    this.fetches.push(fetch);
    this.measures.operationsLength += node.operation.length;
    this.#addSources(node, fetch, scope);
    return fetch;
  }

  #addSources(node: FetchNode, { index, aliases }: FetchStep, scope: PlanScope): void {
    const { definitions } = parse(node.operation, { noLocation: true });
    const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
    const operation = definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION) as OperationDefinitionNode;
    const [first] = operation.selectionSet.selections;
    const ofEntities = node.requires && first?.kind === Kind.FIELD && first.selectionSet;
    const selections = ofEntities || operation.selectionSet;
    const byName = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
    addFields(scope, scope.addLink(index), selections, { fragments: byName, aliases });
  }
}

function addFields(
  scope: PlanScope,
  source: ReturnType<PlanScope["addLink"]>,
  { selections }: SelectionSetNode,
  names: { readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>; readonly aliases: Aliases },
): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      const sent = (selection.alias ?? selection.name).value;
      const name = names.aliases.get(sent) ?? sent;
      scope.addField(name, source);
      if (!selection.selectionSet) continue;
      const child = scope.belowField(name);
      addFields(child, child.addBase(source, name), selection.selectionSet, names);
    } else {
      const inner = selection.kind === Kind.FRAGMENT_SPREAD ? names.fragments.get(selection.name.value) : selection;
      if (inner) addFields(scope, source, inner.selectionSet, names);
    }
  }
}

/** Returns the names of a path; indexes are dropped, because the walk finds lists in the data. */
function namesOf(path: readonly (string | number)[]): string[] {
  return path.flatMap((name) => {
    if (name === "@") return [];
    if (typeof name !== "string" || !/^\w+$/.test(name)) throw new Error(`a plan has the path ${path.join(".")}`);
    return [name];
  });
}

/** Maps types to the interface under which a subgraph knows an entity. */
function typeRewritesOf(rewrites: readonly FetchDataRewrite[] = []): ReadonlyMap<string, string> {
  return new Map(
    rewrites.map((rewrite) => {
      const [type = "", name] = rewrite.path;
      const isOfType = rewrite.kind === "ValueSetter" && rewrite.path.length === 2 && name === "__typename";
      if (!isOfType || !type.startsWith("... on ")) throw new Error(`a plan rewrites ${rewrite.path.join(".")}`);
      return [type.slice("... on ".length), String(rewrite.setValueTo)];
    }),
  );
}

/** Reads the aliases of a fetch, whose answer gets the response names back. */
const aliasesOf = (rewrites: readonly FetchDataRewrite[] = []): Aliases =>
  new Map(
    rewrites.flatMap((rewrite) => (rewrite.kind === "KeyRenamer" ? [[aliasIn(rewrite), rewrite.renameKeyTo]] : [])),
  );

const aliasIn = ({ path }: FetchDataRewrite): string => path.at(-1) ?? "";
