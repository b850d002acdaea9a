import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { camelCase } from "@signalbox/core";
import type { AnyOperation } from "@signalbox/service";
import { type FieldDefinitionNode, Kind, type ObjectTypeDefinitionNode, parse } from "graphql";
import { type ServiceDoors, serviceDoors } from "../access/service-doors.ts";
import type { Generator } from "../generator.ts";
import { root } from "../repository.ts";

/** The mutations in each service's `schema.graphql`, from its operations. Those of the graph alone stay as written. */
export const graphMutations: Generator = {
  name: "graph mutations",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const services = (await serviceDoors()).filter(({ resolvers }) => resolvers.Mutation);
    const files = services.map(async (doors) => {
      const path = `services/${doors.service}/schema.graphql`;
      return [
        path,
        await withMutations(await readFile(join(root, path), "utf8"), doors.resolvers.Mutation ?? {}),
      ] as const;
    });
    return new Map(await Promise.all(files));
  },
};

type Mutations = NonNullable<ServiceDoors["resolvers"]["Mutation"]>;

async function withMutations(sdl: string, mutations: Mutations): Promise<string> {
  const { operationOf } = await import("@signalbox/service");
  const type = parse(sdl).definitions.find(isMutation);
  if (!type?.loc) throw new Error("a schema with mutations needs `type Mutation`");
  const written = new Map((type.fields ?? []).map((field) => [field.name.value, textOf(sdl, field)]));
  const names = [...new Set([...written.keys(), ...Object.keys(mutations)])].filter((name) => name in mutations);
  const fields = await Promise.all(
    names.map(async (name) => {
      const operation = operationOf(mutations[name] as Mutations[string]);
      return operation ? fieldOf(name, operation) : written.get(name);
    }),
  );
  const block = `type Mutation {\n${fields.map((field) => `  ${field}`).join("\n")}\n}`;
  return sdl.slice(0, type.loc.start) + block + sdl.slice(type.loc.end);
}

const isMutation = (node: { readonly kind: string }): node is ObjectTypeDefinitionNode =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION && (node as ObjectTypeDefinitionNode).name.value === "Mutation";

const textOf = (sdl: string, { loc, description }: FieldDefinitionNode): string =>
  sdl.slice(description?.loc?.start ?? loc?.start, loc?.end);

/** Writes the field of an operation: its texts and step-up as the description, its keys and input as arguments. */
async function fieldOf(name: string, operation: AnyOperation): Promise<string> {
  const { graph } = operation;
  const given = await argumentsOf(name, operation);
  const payload = typeof graph?.payload === "string" ? graph.payload : (Object.keys(graph?.payload ?? {})[0] ?? "");
  const type = graph?.type ?? `${capital(payload)}Payload`;
  const onOneLine = `${name}${given.length > 0 ? `(${given.join(", ")})` : ""}: ${type}`;
  // As the formatter writes a field that is too long for one line.
  const field =
    onOneLine.length <= lineMax ? onOneLine : `${name}(\n${given.map((one) => `    ${one}\n`).join("")}  ): ${type}`;
  return `${quoted(textsOf(operation))}\n  ${field}`;
}

/** Terms that only HTTP has: conditions, statuses, media types. */
const ofHttp = /If-Match|Idempotency-Key|\b[2345]\d\d\b|merge patch/;

/** Returns the texts of an operation, with the graph's names, and without the sentences about HTTP alone. */
function textsOf({ auth, input, summary, description = "" }: AnyOperation): string {
  const sentences = description.split(/(?<=\.) /).filter((sentence) => sentence !== "" && !ofHttp.test(sentence));
  const text = [`${summary}.`, ...sentences].join(" ");
  const stepUp = auth.stepUpFor === undefined ? "" : ` for ${auth.stepUpFor}`;
  const guard = (auth.stepUp || stepUp) && !/recent sign-in/.test(text) ? ` Needs a recent sign-in${stepUp}.` : "";
  const members = new Set(Object.keys((input && "shape" in input ? input.shape : undefined) ?? {}));
  return text.replaceAll(/(?<=`)[a-z_]+(?=`)/g, (name) => (members.has(name) ? camelCase(name) : name)) + guard;
}

const widthMax = 116;
/** Width of the formatter, without the indent. */
const lineMax = 118;

function quoted(text: string): string {
  if (text.length <= widthMax) return `"${text.replaceAll('"', '\\"')}"`;
  const lines = text.match(new RegExp(`.{1,${widthMax}}(?= |$)`, "g")) ?? [];
  return `"""\n${lines.map((line) => `  ${line.trim()}`).join("\n")}\n  """`;
}

async function argumentsOf(name: string, operation: AnyOperation): Promise<string[]> {
  const { keysOf } = await import("@signalbox/service");
  const { graph, input } = operation;
  const inputType = graph?.inputType ?? `${capital(name)}Input`;
  const keys = keysOf(operation).map(([, key]) => `${key}: ${/id$/i.test(key) ? "ID" : "String"}!`);
  if (graph?.keysInInput) return [`input: ${inputType}!`];
  return input ? [...keys, `input: ${inputType}${await mayLeaveOut(operation)}`] : keys;
}

/**
 * A change of nothing is a mistake; another input may be left out where each of its members may, unless a rule between
 * them wants one.
 */
async function mayLeaveOut({ input, rest }: AnyOperation): Promise<"" | "!"> {
  const { allMembersMayBeLeftOut } = await import("@signalbox/http");
  const rules = input && "json" in input ? input.json : input;
  return !rest.mergePatch && allMembersMayBeLeftOut(rules) && rules.safeParse({}).success ? "" : "!";
}

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
