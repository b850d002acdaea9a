import { type ConstDirectiveNode, Kind, parse, print, visit } from "graphql";
import { assertNoConflict } from "./required-paths.ts";

type WithDirectives = { readonly directives?: readonly ConstDirectiveNode[] | undefined };

/**
 * Returns the supergraph as Apollo's planner needs it. For a `@requires` the planner returns to a subgraph by the first
 * key of a type, even if the subgraph cannot resolve that key, so resolvable keys come first.
 *
 * @throws Error for requirements that the planner would answer with a wrong value
 */
export function plannerSupergraph(supergraphSdl: string): string {
  const document = parse(supergraphSdl, { noLocation: true });
  assertNoConflict(document);
  return print(visit(document, { ObjectTypeDefinition: resolvableFirst, InterfaceTypeDefinition: resolvableFirst }));
}

const resolvableFirst = <Node extends WithDirectives>(node: Node): Node => ({
  ...node,
  directives: (node.directives ?? []).toSorted(
    (one, other) => Number(isUnresolvable(one)) - Number(isUnresolvable(other)),
  ),
});

const isUnresolvable = ({ arguments: given = [] }: ConstDirectiveNode): boolean =>
  given.some(({ name, value }) => name.value === "resolvable" && value.kind === Kind.BOOLEAN && !value.value);
