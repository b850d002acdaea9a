/** Error codes of documents that exceed a limit. */
export const limitCodes = [
  "limit_depth",
  "limit_aliases",
  "limit_tokens",
  "limit_root_fields",
  "limit_directives",
  "limit_cost",
] as const;

interface Bomb {
  readonly what: string;
  /** Within all limits. */
  readonly small: object;
  readonly large: object;
}

/** Builds a document with few, and with many, of one construct. */
const of = (what: string, document: (count: number) => string, few: number, many: number): Bomb => ({
  what,
  small: { query: document(few) },
  large: { query: document(many) },
});

const repeated = (count: number, part: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => part(at)).join(" ");
const typesOfTypes = (depth: number) =>
  `{ __schema { types ${"{ fields { type ".repeat(depth)}{ name }${" } }".repeat(depth)} } }`;
const nestedFragments = (count: number, spreads: number) => {
  const fragments = repeated(
    count,
    (at) => `fragment f${at} on Account { ${repeated(spreads, () => `...f${at + 1}`)} }`,
  );
  return `{ viewer { ...f0 } } ${fragments} fragment f${count} on Account { id }`;
};

export const bombs: readonly Bomb[] = [
  of("types of types", typesOfTypes, 2, 9),
  of("types of types, very deep", typesOfTypes, 2, 400),
  of("aliases", (count) => `{ viewer { ${repeated(count, (at) => `a${at}: id`)} } }`, 5, 40),
  of("aliases of the root", (count) => `{ ${repeated(count, (at) => `a${at}: viewer { id }`)} }`, 3, 40),
  of(
    "aliases in fragments",
    (count) => `{ viewer { ...f } } fragment f on Account { ${repeated(count, (at) => `a${at}: id`)} }`,
    5,
    40,
  ),
  of("aliases of introspection", (count) => `{ ${repeated(count, (at) => `a${at}: __typename`)} }`, 3, 40),
  of("root fields", (count) => `{ ${repeated(count, () => "viewer { id }")} }`, 3, 40),
  of(
    "mutations at once",
    (count) => `mutation { ${repeated(count, (at) => `m${at}: updateAccount(input: {}) { errors { field } }`)} }`,
    2,
    40,
  ),
  of(
    "directives",
    (count) => `{ viewer { ${repeated(count, (at) => `... @include(if: ${at >= 0}) { id }`)} } }`,
    5,
    60,
  ),
  of("directives on fields", (count) => `{ viewer { ${repeated(count, () => "id @skip(if: false)")} } }`, 5, 60),
  of("tokens", (count) => `{ viewer { ${repeated(count, () => "id")} } }`, 50, 5_000),
  of("fragments that double", (depth) => nestedFragments(depth, 2), 3, 20),
  of("fragments that grow tenfold", (depth) => nestedFragments(depth, 10), 1, 12),
  of(
    "inline fragments",
    (depth) => `{ viewer { ${"... on Account { ".repeat(depth)}id${" }".repeat(depth)} } }`,
    3,
    900,
  ),
  of(
    "lists within lists",
    (count) =>
      `{ viewer { ${repeated(count, (at) => `i${at}: images(first: 70) { edges { node { variants { name url } } } }`)} } }`,
    1,
    31,
  ),
  {
    what: "variables that nest",
    small: { query: "{ viewer { id } }", variables: {} },
    large: { query: "{ viewer { id } }", variables: nested(1_900) },
  },
  {
    what: "text in a document",
    small: { query: "{ viewer { id } }" },
    large: { query: `{ viewer { id } } #${"x".repeat(2_000_000)}` },
  },
];

function nested(depth: number): object {
  let value = {};
  for (let at = 0; at < depth; at++) value = { a: value };
  return value;
}
