import { isDeepStrictEqual } from "node:util";
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
    // The bytes of a picture have any letters.
    find: linesWith(/\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b/, /(?<!\.(png|br))$/),
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
    because:
      "The lock file has every package that one of its packages asks for, also those of other systems: npm ci refuses it otherwise. Made anew without node_modules (npm leaves them out beside one): rm -rf node_modules */*/node_modules package-lock.json && npm install --package-lock-only",
    find: gapsOfLockFile,
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
      .filter(
        ({ path }) =>
          paths.test(path) &&
          !path.endsWith(".br") &&
          (path !== "package-lock.json" || paths.source.includes("package-lock")),
      )
      .flatMap(({ path, text }) =>
        text
          .split("\n")
          .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 100)}`] : [])),
      );
}

const dependencyKinds = ["dependencies", "devDependencies", "optionalDependencies"] as const;
type DependencyKind = (typeof dependencyKinds)[number];

interface NamedVersion {
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** False for an override of the version of a package that another package asks for. */
  readonly isAsked: boolean;
}

/** Lists every package in the manifests of the repository. */
function namedVersions(files: readonly SourceFile[]): NamedVersion[] {
  return files
    .filter(({ path }) => /(^|\/)package\.json$/.test(path))
    .flatMap(({ path, text }) => {
      const { dependencies, devDependencies, optionalDependencies, overrides } = JSON.parse(text) as Manifest;
      const asked = [dependencies, devDependencies, optionalDependencies].flatMap((all) => Object.entries(all ?? {}));
      return [
        ...asked.map(([name, version]) => ({ path, name, version, isAsked: true })),
        ...overridden(overrides ?? {}).map((override) => ({ path, ...override })),
      ];
    });
}

interface Manifest extends Readonly<Record<DependencyKind, Readonly<Record<string, string>> | undefined>> {
  readonly overrides?: Overrides;
}

interface Overrides extends Readonly<Record<string, string | Overrides>> {}

/** The overrides of a manifest and of the packages that it names. One that puts another package there counts as that. */
function overridden(overrides: Overrides): Omit<NamedVersion, "path">[] {
  return Object.entries(overrides).flatMap(([name, version]) => {
    if (typeof version !== "string") return overridden(version);
    const [, other, itsVersion] = alias.exec(version) ?? [];
    return other && itsVersion
      ? [{ name: other, version: itsVersion, isAsked: true }]
      : [{ name, version, isAsked: false }];
  });
}

/** A package under another name: `npm:typescript@7.0.2`. */
const alias = /^npm:(.+)@(.+)$/;

const isExact = (version: string): boolean => /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version);
const isOurs = (name: string): boolean => name.startsWith("@signalbox/");

function inexactVersions(files: readonly SourceFile[]): string[] {
  return namedVersions(files)
    .filter(({ name, version }) => !(isOurs(name) ? version === "*" : isExact(alias.exec(version)?.[2] ?? version)))
    .map(({ path, name, version }) => `${path}: ${name} ${version}`);
}

const reasonsPage = "docs/reference/dependencies.md";

/**
 * Lists packages without a line on the page of reasons, and lines without a package. `@scope/*` stands for all of a
 * scope.
 */
function unexplainedDependencies(files: readonly SourceFile[]): string[] {
  const asked = namedVersions(files).filter(({ name, isAsked }) => isAsked && !isOurs(name));
  const page = files.find(({ path }) => path === reasonsPage)?.text ?? "";
  const lines = page.split("\n").filter((line) => line.startsWith("| `"));
  const namesOf = (line: string) => [...(line.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  const covers = (named: string, name: string) =>
    named.endsWith("/*") ? name.startsWith(named.slice(0, -1)) : named === name;
  const named = lines.flatMap(namesOf);
  // Packages fetched into `.engines/` or kept in git are in no manifest.
  const expected = lines.filter((line) => !/\.engines\/|\/assets\//.test(line)).flatMap(namesOf);
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

interface LockedPackage extends Partial<Readonly<Record<DependencyKind | "peerDependencies", Record<string, string>>>> {
  readonly version: string;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

function lockedPackages(files: readonly SourceFile[]): Readonly<Record<string, LockedPackage>> | null {
  const lock = files.find(({ path }) => path === "package-lock.json");
  return lock === undefined ? null : (JSON.parse(lock.text) as { packages: Record<string, LockedPackage> }).packages;
}

/** Finds packages that the lock file lacks, and manifests of ours that it disagrees with. */
function gapsOfLockFile(files: readonly SourceFile[]): string[] {
  const packages = lockedPackages(files) ?? {};
  const gaps = Object.entries(packages).flatMap(([path, locked]) =>
    [...wantedBy(path, locked)]
      .filter((name) => !foldersAbove(path).some((folder) => `${folder}node_modules/${name}` in packages))
      .map((name) => `package-lock.json: ${path || "the root"} asks for ${name}`),
  );
  const manifests = files.filter(({ path }) => /(^|\/)package\.json$/.test(path));
  const others = manifests.flatMap(({ path, text }) => {
    const locked = packages[path.replace(/\/?package\.json$/, "")];
    if (locked === undefined) return [];
    const manifest = JSON.parse(text) as Manifest;
    const isSame = (kind: DependencyKind) => isDeepStrictEqual({ ...manifest[kind] }, { ...locked[kind] });
    return dependencyKinds
      .filter((kind) => !isSame(kind))
      .map((kind) => `package-lock.json: other ${kind} than ${path}`);
  });
  return [...gaps, ...others];
}

/** The packages without which npm calls the lock file incomplete: only a peer may be optional. */
function wantedBy(path: string, locked: LockedPackage): Set<string> {
  const isDependency = path.includes("node_modules/");
  const kinds = dependencyKinds.filter((kind) => !(isDependency && kind === "devDependencies"));
  const peers = Object.keys(locked.peerDependencies ?? {}).filter(
    (name) => !locked.peerDependenciesMeta?.[name]?.optional,
  );
  return new Set([...kinds.flatMap((kind) => Object.keys(locked[kind] ?? {})), ...peers]);
}

/** The folders in which Node looks for the packages of one, the nearest first: `a/node_modules/b/`, `a/`, and the root. */
function foldersAbove(path: string): string[] {
  const folders = [""];
  for (let rest = path; rest !== ""; rest = rest.slice(0, Math.max(0, rest.lastIndexOf("node_modules/") - 1))) {
    folders.push(`${rest}/`);
    if (!rest.includes("node_modules/")) break;
  }
  return folders;
}

function copiesOfGraphql(files: readonly SourceFile[]): string[] {
  const packages = lockedPackages(files);
  if (packages === null) return ["package-lock.json is missing"];
  const copies = Object.entries(packages).filter(([path]) => path.endsWith("node_modules/graphql"));
  const isRight = copies.length === 1 && copies[0]?.[1].version.startsWith("16.");
  return isRight ? [] : copies.map(([path, { version }]) => `${path} ${version}`);
}
