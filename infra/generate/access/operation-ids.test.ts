import assert from "node:assert/strict";
import { test } from "node:test";
import { Kind, type ObjectTypeDefinitionNode, parse } from "graphql";
import { supergraph } from "../generators/supergraph.ts";
import { serviceDoors } from "./service-doors.ts";

/** What the graph does and the API does at the management address, which has no document; and the way by id, which is a graph's. */
const onlyInGraph = [
  "node",
  ...["properties", "setProperty", "unsetProperty", "setProperties", "rollback", "propertyHistory"],
  ...["changeProposals", "proposeChange", "approveChange", "withdrawChange"],
  ...["flags", "setFlag", "archiveFlag"],
];

const operations = (await serviceDoors()).flatMap(({ routes }) =>
  routes.map(({ method, path, spec }) => ({ method, id: spec.operationId, route: `${method} ${path}` })),
);

test("every operation has an id, and no two have the same one", () => {
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

test("what the graph names, the API names alike: mutations are its changes, fields of the root and lists are its reads", async () => {
  const graph = await graphNames();
  assert.ok(graph.mutations.length > 15 && graph.reads.length > 8, JSON.stringify(graph));
  const idsOf = (isRead: boolean) =>
    new Set(operations.filter(({ method }) => (method === "get") === isRead).map(({ id }) => id));
  const without = (names: readonly string[], ids: ReadonlySet<string | undefined>) =>
    names.filter((name) => !ids.has(name) && !onlyInGraph.includes(name));
  assert.deepEqual(without(graph.mutations, idsOf(false)), []);
  assert.deepEqual(without(graph.reads, idsOf(true)), []);
});

test("what only the API has is named by the graph's grammar: reads are nouns, changes begin with a verb", () => {
  const verb =
    /^(append|cancel|complete|confirm|create|delete|disable|enable|end|evaluate|follow|import|link|pause|publish|receive|rename|replace|reprocess|request|resend|resume|retry|reveal|revoke|rotate|run|set|signOut|start|step|test|unlink|update|upload|verify)(?=[A-Z])/;
  const misnamed = operations.filter(
    ({ method, id = "", route }) => verb.test(id) !== (method !== "get" || route === "get /graphql"),
  );
  assert.deepEqual(misnamed, []);
});

/** The mutations of the composed graph, and what it reads: the fields of its root and the lists of an account. */
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
