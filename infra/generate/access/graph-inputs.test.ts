import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { camelCase } from "@signalbox/core";
import { type AnyOperation, keysOf, operationOf } from "@signalbox/service";
import { type InputObjectTypeDefinitionNode, Kind, parse } from "graphql";
import { z } from "zod";
import { root } from "../repository.ts";
import { serviceDoors } from "./service-doors.ts";

/** The members of an input, each with `true` when it must be given. */
type Members = Readonly<Record<string, boolean>>;

const operations = (await serviceDoors()).flatMap(({ service, resolvers }) =>
  Object.entries(resolvers.Mutation ?? {}).flatMap(([name, resolve]) => {
    const operation = operationOf(resolve);
    return operation ? [{ service, name, operation }] : [];
  }),
);

async function inputsOf(service: string): Promise<ReadonlyMap<string, Members>> {
  const { definitions } = parse(await readFile(join(root, `services/${service}/schema.graphql`), "utf8"));
  const inputs = definitions.filter(
    (node): node is InputObjectTypeDefinitionNode => node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION,
  );
  const membersOf = ({ fields = [] }: InputObjectTypeDefinitionNode) =>
    Object.fromEntries(fields.map(({ name, type }) => [name.value, type.kind === Kind.NON_NULL_TYPE]));
  return new Map(inputs.map((input) => [input.name.value, membersOf(input)]));
}

/** Returns the members of the rules in the names of the graph, or null for rules that are no object. */
function membersOfRules(operation: AnyOperation): Members | null {
  const { input, graph } = operation;
  const keys = graph?.keysInInput ? keysOf(operation).map(([, name]) => [name, true] as const) : [];
  const rules = objectOf(input && "json" in input ? input.json : input);
  if (!rules) return null;
  const members = Object.entries(rules.shape).map(([name, rule]) => [camelCase(name), isRequired(rule)] as const);
  return Object.fromEntries([...keys, ...members]);
}

const isRequired = (rule: z.core.$ZodType): boolean => !z.safeParse(rule, undefined).success;

/** Finds the object in rules that convert or refine one. */
function objectOf(rules: unknown): z.ZodObject | null {
  if (rules === undefined) return z.object({});
  if (rules instanceof z.ZodObject) return rules;
  return rules instanceof z.ZodPipe ? (objectOf(rules.in) ?? objectOf(rules.out)) : null;
}

test("every input of the graph has the members of the REST body, and requires at least the same", async () => {
  assert.ok(operations.length > 10, `only ${operations.length} operations were found`);
  for (const { service, name, operation } of operations) {
    const rules = membersOfRules(operation);
    if (!rules || Object.keys(rules).length === 0) continue;
    const type = operation.graph?.inputType ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
    const members = (await inputsOf(service)).get(type) ?? {};
    assert.deepEqual(Object.keys(members).toSorted(), Object.keys(rules).toSorted(), `${service}: ${type}`);
    // A patch over REST may leave out what a mutation is named after.
    const required = Object.keys(rules).filter((name) => rules[name]);
    assert.deepEqual(
      required.filter((name) => !members[name]),
      [],
      `${service}: ${type}`,
    );
  }
});
