import { asksForMore } from "../docker/licence-page.ts";

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export interface RepositoryRule {
  /** The reason of the rule, and the thing to do instead. */
  readonly because: string;
  /** Lists the places that break the rule. */
  readonly find: (files: readonly SourceFile[]) => string[];
}

/** A bar that only goes down. */
const decisionsMax = 28;

/** Rules about the text of the repository that no compiler or linter knows. */
export const repositoryRules: readonly RepositoryRule[] = [
  {
    because: "Unfinished work is left out and recorded in an issue, not marked in the code.",
    find: linesWith(/\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b/),
  },
  {
    because: "A test that does not run protects nothing: repair it or remove it.",
    find: linesWith(/\b(test|it|suite|describe|t|context)\.(skip|only|todo)\(|\{\s*(skip|only|todo): /, /\.test\.ts$/),
  },
  {
    because: "A path of one person's machine does not exist on another's.",
    find: linesWith(
      /(^|[\s"'`(=:])\/(work|root|farm|home\/[a-z]+|Users\/[A-Za-z]+)\//,
      /\.(ts|mjs|js|jsonc?|ya?ml|md|conf|sh)$/,
    ),
  },
  {
    because: "The temporary folder is `os.tmpdir()`: it is not /tmp everywhere.",
    find: linesWith(/["'`]\/tmp\b/, /\.(ts|mjs)$/),
  },
  {
    because: "The lock file names no registry, so that a mirror serves as well.",
    find: linesWith(/"resolved": "https?:/, /^package-lock\.json$/),
  },
  {
    because:
      "Versions are exact, so that a fresh clone gets what was tested. (@signalbox packages come from this repository: `*`.)",
    find: inexactVersions,
  },
  {
    because:
      "A migration begins with `-- signalbox: expand` or `-- signalbox: contract`, by which an older version knows whether it may start.",
    find: undeclaredMigrations,
  },
  {
    because: "Every package has its reason in docs/reference/dependencies.md, and none stays there after it is gone.",
    find: unexplainedDependencies,
  },
  {
    because: `docs/decisions holds at most ${decisionsMax} pages, one a subject: change the page of the subject instead of adding one.`,
    find: decisionsBeyondTheBar,
  },
  {
    because: "NOTICE names every package whose licence asks for more than to be named.",
    find: unnoticedLicences,
  },
  {
    because: "Two copies of graphql refuse each other's schemas, and the Apollo packages need version 16.",
    find: copiesOfGraphql,
  },
];

/** Finds matching lines, in files with a matching path. */
function linesWith(pattern: RegExp, paths = /./): RepositoryRule["find"] {
  return (files) =>
    files
      .filter(({ path }) => paths.test(path) && (path !== "package-lock.json" || paths.source.includes("package-lock")))
      .flatMap(({ path, text }) =>
        text
          .split("\n")
          .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 100)}`] : [])),
      );
}

interface NamedVersion {
  readonly path: string;
  readonly name: string;
  readonly version: string;
}

/** Lists every package in the manifests of the repository. */
function namedVersions(files: readonly SourceFile[]): NamedVersion[] {
  return files
    .filter(({ path }) => /(^|\/)package\.json$/.test(path))
    .flatMap(({ path, text }) => {
      const manifest = JSON.parse(text) as Record<string, Record<string, string> | undefined>;
      const kinds = ["dependencies", "devDependencies", "optionalDependencies", "overrides"];
      const versions = kinds.flatMap((kind) => Object.entries(manifest[kind] ?? {}));
      return versions.map(([name, version]) => ({ path, name, version }));
    });
}

const isOurs = (name: string): boolean => name.startsWith("@signalbox/");

function inexactVersions(files: readonly SourceFile[]): string[] {
  return namedVersions(files)
    .filter(({ name, version }) => !(isOurs(name) ? version === "*" : /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)))
    .map(({ path, name, version }) => `${path}: ${name} ${version}`);
}

const reasonsPage = "docs/reference/dependencies.md";

/**
 * Lists packages without a line on the page of reasons, and lines without a package. `@scope/*` stands for all of a
 * scope.
 */
function unexplainedDependencies(files: readonly SourceFile[]): string[] {
  const asked = namedVersions(files).filter(({ name }) => !isOurs(name));
  const page = files.find(({ path }) => path === reasonsPage)?.text ?? "";
  const lines = page.split("\n").filter((line) => line.startsWith("| `"));
  const namesOf = (line: string) => [...(line.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  const covers = (named: string, name: string) =>
    named.endsWith("/*") ? name.startsWith(named.slice(0, -1)) : named === name;
  const named = lines.flatMap(namesOf);
  // Packages fetched into `.engines/` are in no manifest.
  const expected = lines.filter((line) => !line.includes(".engines/")).flatMap(namesOf);
  return [
    ...asked.filter(({ name }) => !named.some((one) => covers(one, name))).map(({ path, name }) => `${path}: ${name}`),
    ...expected.filter((one) => !asked.some(({ name }) => covers(one, name))).map((one) => `${reasonsPage}: ${one}`),
  ];
}

function undeclaredMigrations(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => /migrations\/.*\.sql$/.test(path))
    .filter(({ text }) => !/^-- signalbox: (expand|contract)( concurrently)?\n/.test(text))
    .map(({ path }) => path);
}

function decisionsBeyondTheBar(files: readonly SourceFile[]): string[] {
  const pages = files.map(({ path }) => path).filter((path) => /^docs\/decisions\/[^/]+\.md$/.test(path));
  return pages.length > decisionsMax ? pages.slice(decisionsMax) : [];
}

/** Their manifests say nothing; their repositories are under Apache-2.0. */
const withoutLicence = ["@openfeature/ofrep-core", "@openfeature/ofrep-provider"];

/** Packages whose licence asks for more than to be named, and that NOTICE lacks. There `name-*` stands for all that begin so. */
function unnoticedLicences(files: readonly SourceFile[]): string[] {
  const textOf = (wanted: string) => files.find(({ path }) => path === wanted)?.text ?? "";
  const { packages } = JSON.parse(textOf("package-lock.json") || '{"packages":{}}') as {
    packages: Record<string, { readonly license?: string; readonly link?: boolean }>;
  };
  const named = textOf("NOTICE").split(/[\s,]+/);
  const isNamed = (name: string) =>
    named.some((one) => (one.endsWith("-*") ? name.startsWith(one.slice(0, -1)) : one === name));
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes("node_modules/") && !link)
    .map(([path, { license = "unknown" }]) => ({ name: path.replace(/^.*node_modules\//, ""), license }))
    .filter(({ name, license }) => asksForMore(license) && !withoutLicence.includes(name) && !isNamed(name))
    .map(({ name, license }) => `${name}: ${license}`);
}

function copiesOfGraphql(files: readonly SourceFile[]): string[] {
  const lock = files.find(({ path }) => path === "package-lock.json");
  if (lock === undefined) return ["package-lock.json is missing"];
  const { packages } = JSON.parse(lock.text) as { packages: Record<string, { version: string }> };
  const copies = Object.entries(packages).filter(([path]) => path.endsWith("node_modules/graphql"));
  const isRight = copies.length === 1 && copies[0]?.[1].version.startsWith("16.");
  return isRight ? [] : copies.map(([path, { version }]) => `${path} ${version}`);
}
