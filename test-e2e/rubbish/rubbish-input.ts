import { type Client, expectStatus } from "../journey/client.ts";

/** One operation with one bad value. `body` is the JSON text of the request: it may contain what an object cannot. */
interface RubbishOperation {
  readonly what: string;
  readonly body: string;
}

interface TypeReference {
  readonly kind: string;
  readonly name: string | null;
  readonly ofType?: TypeReference;
}

interface Argument {
  readonly name: string;
  readonly type: TypeReference;
}

interface Field {
  readonly name: string;
  readonly args: readonly Argument[];
  readonly type: TypeReference;
}

interface GraphType {
  readonly name: string;
  readonly kind: string;
  readonly fields: readonly Field[] | null;
  readonly inputFields: readonly Argument[] | null;
  readonly enumValues: readonly { readonly name: string }[] | null;
}

const typeReference = "kind name ofType { kind name ofType { kind name ofType { kind name } } }";
const introspection = `{ __schema { types { kind name enumValues { name } inputFields { name type { ${typeReference} } }
  fields { name args { name type { ${typeReference} } } type { ${typeReference} } } } } }`;

const nested = (open: string, close: string, depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`;

/** Bad values by the type they stand for, as JSON. */
const rubbishTexts = [
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"__proto__"',
  '"constructor"',
  `"${"x".repeat(10_000)}"`,
  '""',
] as const;
const rubbish: Readonly<Record<string, readonly string[]>> = {
  ID: rubbishTexts,
  String: rubbishTexts,
  DateTime: [...rubbishTexts, '"+275760-09-13T00:00:00.001Z"', '"0000-00-00T00:00:00Z"', "1e300"],
  JSON: [
    ...rubbishTexts,
    nested("[", "]", 60),
    nested("[", "]", 65),
    nested("[", "]", 1_900),
    nested('{"a":', "}", 1_900),
    '{"__proto__":{"admin":true}}',
    '[{"__proto__":1}]',
    '["\\u0000"]',
    '{"\\u0000":1}',
    "1e999",
    "9007199254740993",
  ],
  Int: ["-1", "2147483648", "1e999", nested("[", "]", 1_900)],
  Boolean: ['"yes"'],
};
const good: Readonly<Record<string, string>> = {
  ID: '"rubbish"',
  String: '"rubbish"',
  DateTime: '"2031-01-01T00:00:00Z"',
  JSON: '"rubbish"',
  Int: "1",
  Boolean: "true",
};

/**
 * Generates operations with each bad value at every argument of the graph, including members of inputs, as a variable
 * and as a literal.
 */
export async function rubbishOperations(send: Client): Promise<RubbishOperation[]> {
  const answer = expectStatus(await send("/graphql", { body: { query: introspection } }), 200);
  const types = new Map<string, GraphType>(answer.json.data.__schema.types.map((type: GraphType) => [type.name, type]));
  const under = (type: string, wrap: (field: string) => string, operation: "query" | "mutation") =>
    (types.get(type)?.fields ?? [])
      .filter(({ args }) => args.length > 0)
      .flatMap((field) => operationsOn(field, types, (text) => wrap(text), operation));
  return [
    ...under("Query", (field) => field, "query"),
    ...under("Account", (field) => `viewer { ${field} }`, "query"),
    ...under("Mutation", (field) => field, "mutation"),
  ];
}

function operationsOn(
  field: Field,
  types: ReadonlyMap<string, GraphType>,
  wrap: (field: string) => string,
  operation: string,
): RubbishOperation[] {
  const selection = selectionOf(types.get(nameOf(field.type)));
  const base = new Map(field.args.map(({ name, type }) => [name, goodValue(type, types, name)]));
  const asText = (values: ReadonlyMap<string, string>) => {
    const literals = [...values].map(([name, value]) => `${name}: ${literal(value)}`);
    return `${operation} { ${wrap(`${field.name}(${literals.join(", ")})${selection}`)} }`;
  };
  const declared = field.args.map(({ name, type }) => `$${name}: ${written(type)}`);
  const given = field.args.map(({ name }) => `${name}: $${name}`);
  const query = `${operation}(${declared.join(", ")}) { ${wrap(`${field.name}(${given.join(", ")})${selection}`)} }`;
  return field.args.flatMap(({ name, type }) =>
    badValues(type, types, name).flatMap(({ where, value }) => {
      const values = new Map([...base, [name, value]]);
      const variables = [...values].map(([key, one]) => `${JSON.stringify(key)}:${one}`);
      const what = `${field.name} with ${value.slice(0, 60)} as ${where}`;
      return [
        { what: `${what}, a variable`, body: `{"query":${JSON.stringify(query)},"variables":{${variables.join()}}}` },
        { what: `${what}, a literal`, body: JSON.stringify({ query: asText(values) }) },
      ];
    }),
  );
}

/** Payloads show the failures. */
function selectionOf(type: GraphType | undefined): string {
  if (!type?.fields) return "";
  const isPayload = type.fields.some(({ name }) => name === "errors");
  return isPayload ? " { errors { field code message } }" : " { __typename }";
}

function badValues(
  type: TypeReference,
  types: ReadonlyMap<string, GraphType>,
  where: string,
): { where: string; value: string }[] {
  if (type.kind === "NON_NULL") return badValues(type.ofType as TypeReference, types, where);
  if (type.kind === "LIST")
    return badValues(type.ofType as TypeReference, types, `${where}[0]`).map((bad) => ({
      ...bad,
      value: `[${bad.value}]`,
    }));
  const name = nameOf(type);
  const members = types.get(name)?.inputFields;
  if (!members) return (rubbish[name] ?? ['"rubbish"']).map((value) => ({ where, value }));
  return members.flatMap((member) =>
    badValues(member.type, types, `${where}.${member.name}`).map(({ where: place, value }) => ({
      where: place,
      value: objectOf(members, types, new Map([[member.name, value]])),
    })),
  );
}

/** Returns a valid value; `name` selects the text for arguments with a format. */
function goodValue(type: TypeReference, types: ReadonlyMap<string, GraphType>, name: string): string {
  if (type.kind === "NON_NULL") return goodValue(type.ofType as TypeReference, types, name);
  if (type.kind === "LIST") return `[${goodValue(type.ofType as TypeReference, types, name)}]`;
  const { inputFields, enumValues } = types.get(nameOf(type)) ?? {};
  if (inputFields) return objectOf(inputFields, types, new Map());
  if (enumValues) return JSON.stringify(enumValues[0]?.name);
  if (name === "expectedRevision") return '"0"';
  return good[nameOf(type)] ?? "null";
}

function objectOf(
  members: readonly Argument[],
  types: ReadonlyMap<string, GraphType>,
  bad: ReadonlyMap<string, string>,
): string {
  const isProperty = members.some(({ name }) => name === "expectedRevision");
  const values = members.map(({ name, type }) => {
    const value = isProperty && name === "name" ? '"server.name"' : goodValue(type, types, name);
    return `${JSON.stringify(name)}:${bad.get(name) ?? value}`;
  });
  return `{${values.join()}}`;
}

const nameOf = (type: TypeReference): string => type.name ?? nameOf(type.ofType as TypeReference);

function written(type: TypeReference): string {
  if (type.kind === "NON_NULL") return `${written(type.ofType as TypeReference)}!`;
  return type.kind === "LIST" ? `[${written(type.ofType as TypeReference)}]` : (type.name as string);
}

/** Converts JSON to a GraphQL literal: member names without quotes, where they are names. */
const literal = (json: string): string => json.replace(/"([A-Za-z_]\w*)":/g, "$1:");

/** A malformed request body, with the media type that it claims. */
interface RubbishBody {
  readonly what: string;
  readonly type: string | null;
  readonly bytes: Buffer;
}

const json = (what: string, text: string | Buffer): RubbishBody => ({
  what,
  type: "application/json",
  bytes: Buffer.from(text as string),
});

export const rubbishBodies: readonly RubbishBody[] = [
  json("nothing", ""),
  json("half an object", '{"name":'),
  json("a repeated member", '{"name":"a","name":"b"}'),
  json("bytes that are not UTF-8", Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0x22, 0x7d])),
  json("a byte order mark alone", Buffer.from([0xef, 0xbb, 0xbf])),
  json("deep nesting", `${"[".repeat(50_000)}${"]".repeat(50_000)}`),
  json("deep nesting of objects", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`),
  json("a number beyond all bounds", '{"name":1e999999}'),
  json("a number of ten thousand digits", `{"name":${"9".repeat(10_000)}}`),
  json("an array", "[]"),
  json("null", "null"),
  json("a text", '"text"'),
  json("a prototype", '{"__proto__":{"admin":true},"constructor":{"prototype":{}}}'),
  json("U+0000", '{"name":"a\\u0000b","display_name":"a\\u0000b","url":"\\u0000","query":"\\u0000"}'),
  json("half a surrogate pair", '{"name":"\\ud800","display_name":"\\ud800","url":"\\ud800","query":"\\ud800"}'),
  json("members of wrong types", '{"name":{},"url":[],"scopes":7,"event_types":"x","query":{},"source_url":[]}'),
  json("two megabytes", `{"name":"${"x".repeat(2 * 1024 * 1024)}"}`),
  { what: "a wrong charset", type: "application/json; charset=utf-16", bytes: Buffer.from("{}", "utf16le") },
  { what: "an unknown charset", type: "application/json; charset=klingon", bytes: Buffer.from("{}") },
  { what: "plain text", type: "text/plain", bytes: Buffer.from("{}") },
  { what: "XML", type: "application/xml", bytes: Buffer.from("<a/>") },
  { what: "a media type that is none", type: ";;;/", bytes: Buffer.from("{}") },
  { what: "a form without a boundary", type: "multipart/form-data", bytes: Buffer.from("--x\r\n\r\n") },
  { what: "a form that stops", type: "multipart/form-data; boundary=x", bytes: Buffer.from("--x\r\nContent-Disposi") },
  { what: "no media type", type: null, bytes: Buffer.from("{}") },
];

/** Values for every path parameter. */
export const rubbishSegments: readonly string[] = [
  "%00",
  "%ff",
  "..%2f..",
  "%E0%A4%A",
  "x".repeat(3_000),
  "%F0%9F%92%A9",
];

export const rubbishQueries: readonly string[] = [
  "?unknown=1",
  "?limit=1&limit=2",
  "?limit=-1",
  "?limit=1e999",
  "?cursor=rubbish",
  "?cursor=%00",
  "?%ff=%ff",
  `?q=${"x".repeat(5_000)}`,
];
