import assert from "node:assert/strict";
import { test } from "node:test";
import { Kind, type ObjectTypeDefinitionNode, parse } from "graphql";
import { supergraph } from "../generators/supergraph.ts";
import { serviceDoors } from "./service-doors.ts";

/**
 * Fields whose API is at the management address, which has no document; and the look-up by id, which only a graph has.
 */
const onlyInGraph = [
  "node",
  ...["properties", "setProperty", "unsetProperty", "setProperties", "rollback", "propertyHistory"],
  ...["changeProposals", "proposeChange", "approveChange", "withdrawChange"],
  ...["flags", "setFlag", "archiveFlag"],
];

const operations = (await serviceDoors()).flatMap(({ routes }) =>
  routes.map(({ method, path, spec }) => ({ method, id: spec.operationId, route: `${method} ${path}` })),
);

test("every operation has a unique id", () => {
  assert.deepEqual(
    operations.filter(({ id }) => id === undefined).map(({ route }) => route),
    [],
  );
  const ids = operations.map(({ id }) => id);
  assert.deepEqual(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  );
});

test("operations in both have the same name: mutations are its changes, fields of the root and lists are its reads", async () => {
  const graph = await graphNames();
  assert.ok(graph.mutations.length > 15 && graph.reads.length > 8, JSON.stringify(graph));
  const idsOf = (isRead: boolean) =>
    new Set(operations.filter(({ method }) => (method === "get") === isRead).map(({ id }) => id));
  const without = (names: readonly string[], ids: ReadonlySet<string | undefined>) =>
    names.filter((name) => !ids.has(name) && !onlyInGraph.includes(name));
  assert.deepEqual(without(graph.mutations, idsOf(false)), []);
  assert.deepEqual(without(graph.reads, idsOf(true)), []);
});

test("operations only in the API follow the graph's grammar: reads are nouns, changes start with a verb", () => {
  const verb =
    /^(append|cancel|complete|confirm|create|delete|disable|enable|end|evaluate|follow|import|link|pause|publish|receive|rename|replace|reprocess|request|resend|resume|retry|reveal|revoke|rotate|run|set|signOut|start|step|test|unlink|update|upload|verify)(?=[A-Z])/;
  const misnamed = operations.filter(
    ({ method, id = "", route }) => verb.test(id) !== (method !== "get" || route === "get /graphql"),
  );
  assert.deepEqual(misnamed, []);
});

/** Lists the mutations of the composed graph, and its reads: the fields of its root and the lists of an account. */
async function graphNames(): Promise<{ mutations: string[]; reads: string[] }> {
  const [sdl = ""] = (await supergraph.generate()).values();
  const types = parse(sdl).definitions.filter((node) => node.kind === Kind.OBJECT_TYPE_DEFINITION);
  const fieldsOf = (name: string) => types.find((type) => type.name.value === name)?.fields ?? [];
  const nameOf = ({ name }: NonNullable<ObjectTypeDefinitionNode["fields"]>[number]) => name.value;
  const lists = fieldsOf("Account").filter((field) =>
    field.arguments?.some((argument) => argument.name.value === "first"),
  );
  return { mutations: fieldsOf("Mutation").map(nameOf), reads: [...fieldsOf("Query"), ...lists].map(nameOf) };
}
