import { wideDependencies } from "./dependencies.ts";
import { equalBlocks } from "./equal-blocks.ts";
import { doorsOf, exportsOf, handWritten, type Module, type Repository } from "./modules.ts";
import { importsBackUp } from "./order.ts";
import { measureWalks } from "./walks.ts";

/** A figure of the structure that no linter measures, and how large it may be. */
export interface Bar {
  readonly name: string;
  readonly figure: number;
  readonly max: number;
  /** Places to look at, the worst first. */
  readonly places: readonly string[];
}

/** Files and lines that the `src` of a service may have. They only go down; raising one is a commit of its own. */
const ceilings: Readonly<Record<string, readonly [files: number, lines: number]>> = {
  account: [143, 17_380],
  config: [38, 3_910],
  console: [179, 16_100],
  gateway: [63, 6_520],
  images: [58, 6_220],
  "webhook-delivery": [94, 12_930],
  "webhook-ingest": [70, 8_470],
};

/** Imports that may run back up among the folders of a service. They only go down too. */
const backUp: Readonly<Record<string, number>> = {
  account: 3,
  config: 0,
  console: 1,
  gateway: 0,
  images: 3,
  "webhook-delivery": 3,
  "webhook-ingest": 3,
};

/** Lines of what is not a service. */
const linesElsewhere: Readonly<Record<string, number>> = {
  "libs/events": 7_410,
  "libs/storage": 5_780,
  "libs/http": 5_160,
  "libs/graphql": 1_250,
  "libs/net": 2_100,
  infra: 15_400,
};

/** Dependencies that a factory may name. */
const dependenciesMax = 8;

/** Measures what the repository holds itself to, beside what Biome, knip and dependency-cruiser hold. */
export function measureBars(repository: Repository): Bar[] {
  const modules = handWritten(repository);
  const services = modules.filter(({ path }) => path.startsWith("services/"));
  return [
    noneOf("files under 25 lines with one importer", slivers(repository).map(describe)),
    noneOf(
      "equal blocks of six lines between two services",
      equalBlocks(services).map(({ lines, places }) => `${places.join(" = ")} (${lines} lines)`),
    ),
    noneOf("values of two libraries with one name", namesOfTwo(repository)),
    noneOf(
      `factories with more than ${dependenciesMax} named dependencies`,
      wideDependencies(repository, dependenciesMax),
    ),
    ...Object.entries(backUp).map(([service, max]) => {
      const places = importsBackUp(repository, service);
      return { name: `imports that run back up in services/${service}`, figure: places.length, max, places };
    }),
    ...measureWalks(repository),
    ...Object.entries(linesElsewhere).map(([folder, max]) => {
      const own = modules.filter((module) => module.folder === folder);
      return { name: `lines of ${folder}`, max, ...linesOf(own) };
    }),
    ...Object.entries(ceilings).flatMap(([service, [files, lines]]) => {
      const own = services.filter(({ path }) => path.startsWith(`services/${service}/src/`));
      return [
        { name: `files of services/${service}/src`, figure: own.length, max: files, places: [] },
        { name: `lines of services/${service}/src`, max: lines, ...linesOf(own) },
      ];
    }),
  ];
}

function noneOf(name: string, places: string[]): Bar {
  return { name, figure: places.length, max: 0, places };
}

function linesOf(modules: readonly Module[]): Pick<Bar, "figure" | "places"> {
  const places = modules.toSorted((a, b) => b.lines - a.lines).map(describe);
  return { figure: modules.reduce((total, { lines }) => total + lines, 0), places };
}

const describe = ({ path, lines }: Module): string => `${path} (${lines} lines)`;

const sliverLines = 25;

/**
 * Files of a few lines that exactly one other file imports: they belong into it. A short file is right where a program begins,
 * for what a package shows at its door, for what is loaded only when it is needed, and for a rule with a test of its own.
 */
function slivers(repository: Repository): Module[] {
  const doors = doorsOf(repository);
  const modules = handWritten(repository);
  const importers = new Map<string, Set<string>>();
  const apart = new Set(doors);
  for (const { path, imports } of modules) {
    for (const { target, form } of imports) {
      if (target === null) continue;
      importers.set(target, (importers.get(target) ?? new Set()).add(path));
      if (form === "dynamic" || (form === "re-export" && doors.has(path))) apart.add(target);
    }
  }
  const paths = new Set(repository.modules.map(({ path }) => path));
  const hasTest = (path: string) => paths.has(path.replace(/\.ts$/, ".test.ts"));
  return modules
    .filter(({ lines }) => lines < sliverLines)
    .filter(({ path }) => !apart.has(path) && !hasTest(path) && !/\/(main|index)\.ts$/.test(path))
    .filter(({ path }) => importers.get(path)?.size === 1);
}

/** Names that the doors of two libraries give to two values of their own, with the libraries. */
function namesOfTwo(repository: Repository): string[] {
  const doors = doorsOf(repository);
  const owners = new Map<string, Set<string>>();
  for (const door of repository.modules.filter(({ path }) => path.startsWith("libs/") && doors.has(path))) {
    for (const { name, isType, from } of exportsOf(door, repository)) {
      const isOwn = from === null || from.startsWith(`${door.folder}/`);
      if (!isType && isOwn) owners.set(name, (owners.get(name) ?? new Set()).add(door.folder));
    }
  }
  return [...owners]
    .filter(([, folders]) => folders.size > 1)
    .map(([name, folders]) => `${name}: ${[...folders].join(", ")}`);
}
