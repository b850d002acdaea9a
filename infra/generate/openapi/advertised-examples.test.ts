import assert from "node:assert/strict";
import { test } from "node:test";
import { judge, openApiDocument } from "@signalbox/http";
import { z } from "zod";
import { routeName, serviceDoors } from "../access/service-doors.ts";
import type { OpenApiDocument, OpenApiOperation } from "./openapi-documents.ts";

interface Advertised {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly examples: readonly unknown[];
}

/** The bodies of each media type and the queries of all operations, with the documents' examples; a query has none. */
const inputs: readonly Advertised[] = (await serviceDoors()).flatMap(({ service, routes }) => {
  const document = openApiDocument({ list: routes }, { title: service, version: "1" }) as unknown as OpenApiDocument;
  return routes.flatMap((route) => {
    const name = routeName(route);
    const { body, query } = route.spec;
    const json = body instanceof z.ZodType ? body : body && "json" in body ? body.json : undefined;
    const forms: Readonly<Record<string, z.ZodType>> = (body && "forms" in body && body.forms?.mediaTypes) || {};
    const operation = document.paths[route.path.replaceAll(/:(\w+)/g, "{$1}")]?.[route.method];
    return [
      ...Object.entries({ "application/json": json, ...forms }).flatMap(([type, schema]) =>
        schema ? [{ name: `${name} ${type}`, schema, examples: examplesOf(document, operation, type) }] : [],
      ),
      ...(query ? [{ name: `${name} ?`, schema: query as z.ZodType, examples: [{}] }] : []),
    ];
  });
});

function examplesOf(document: OpenApiDocument, operation: OpenApiOperation | undefined, type: string): unknown[] {
  const { example, examples = {} } = operation?.requestBody?.content[type] ?? {};
  const referred = Object.values(examples).map(({ $ref }) => {
    const [kind = "", name = ""] = $ref.split("/").slice(2);
    return (document.components[kind]?.[name] as { value?: unknown } | undefined)?.value;
  });
  return [example, ...referred].filter((value) => value !== undefined);
}

const faultsOf = ({ schema }: Advertised, value: unknown) => {
  const judged = judge(schema, value);
  return judged.success ? [] : judged.details;
};

test("every example of a document is taken by the operation that it is for", () => {
  const refused = inputs
    .filter(({ name }) => !name.endsWith("?"))
    .flatMap((input) =>
      input.examples.flatMap((example) =>
        faultsOf(input, example).map(({ field, message }) => `${input.name} ${field}: ${message}`),
      ),
    );
  assert.deepEqual(refused, []);
  const cloudEvents = inputs.filter(({ name }) => name.includes("cloudevents"));
  assert.deepEqual(
    cloudEvents.map(({ examples }) => examples.length),
    [1, 1],
  );
});

/** Fits no time, name, address or number. */
const nonsense = "\u00a7 ?";

test("a message that refuses a value recommends one that it does not refuse", () => {
  const sent: string[] = [];
  const refused: string[] = [];
  for (const input of inputs) {
    for (const value of input.examples) {
      for (const path of pathsOf(input.schema)) {
        const field = path.join(".");
        const faults = faultsOf(input, withText(value, path, nonsense));
        for (const { message } of faults.filter((fault) => fault.field === field)) {
          const [, example] =
            /(?:such as|written as|for example|is written) `?([^\s`,]+?)`?[.,]?(?:\s|$)/.exec(message) ?? [];
          if (example === undefined) continue;
          sent.push(`${input.name} ${field} ${example}`);
          const isRefused = faultsOf(input, withText(value, path, example)).some(
            (fault) => fault.field === field && fault.message === message,
          );
          if (isRefused) refused.push(`${input.name} ${field}: ${message}`);
        }
      }
    }
  }
  assert.deepEqual(refused, []);
  assert.ok(sent.length > 30, `only ${sent.length} messages have an example`);
});

/** The paths of the members of a schema, in every form that it has. */
function pathsOf(schema: z.core.$ZodType): string[][] {
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape as z.ZodRawShape).flatMap(([name, member]) => [
      [name],
      ...pathsOf(member).map((path) => [name, ...path]),
    ]);
  }
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(pathsOf);
  if (schema instanceof z.ZodPipe) return pathsOf(schema.in);
  const isWrapper =
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return isWrapper ? pathsOf(schema.unwrap()) : [];
}

function withText(value: unknown, [name, ...path]: readonly string[], text: string): unknown {
  if (name === undefined) return text;
  const members = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  return { ...members, [name]: withText(members[name], path, text) };
}
