import { equalBlocks } from "./equal-blocks.ts";
import { type FunctionSize, functionSizes } from "./functions.ts";
import { circles, namesOfTwo, namesOfTwoFiles, slivers, unusedExports } from "./imports.ts";
import { handWritten, type Repository } from "./modules.ts";
import { lostPlaces, type Tour, tours } from "./walks.ts";

/** A figure of the structure, and how large it may be; null where it is only shown. */
export interface Bar {
  readonly name: string;
  readonly figure: number;
  readonly max: number | null;
  /** Where to look, the worst first. */
  readonly places: readonly string[];
}

const longLines = 60;
/** Those who import the client are not in this repository. */
const libraryOfUsers = "libs/client/";

/** Measures what the repository holds itself to. `read` gives the text of any file, null when there is none. */
export function measureBars(repository: Repository, read: (path: string) => string | null): Bar[] {
  return [
    ...functionBars(repository),
    ...importBars(repository),
    ...accountBars(repository),
    ...tours.map((tour) => tourBar(tour, read)),
  ];
}

function functionBars(repository: Repository): Bar[] {
  const sizes = functionSizes(handWritten(repository));
  const long = sizes.filter(({ lines }) => lines > longLines);
  const longOutside = long.filter(({ path }) => !path.startsWith("libs/"));
  return [
    {
      name: "lines of the longest function",
      figure: sizes[0]?.lines ?? 0,
      max: 80,
      places: long.map(describeFunction),
    },
    countBar(`functions over ${longLines} lines`, 5, long.map(describeFunction)),
    countBar(`functions over ${longLines} lines outside libs`, 0, longOutside.map(describeFunction)),
  ];
}

function importBars(repository: Repository): Bar[] {
  const services = handWritten(repository).filter(({ path }) => path.startsWith("services/"));
  return [
    countBar(
      "files under 25 lines with one importer",
      0,
      slivers(repository).map(({ path, lines }) => `${path} (${lines} lines)`),
    ),
    countBar(
      "equal blocks of six lines between two services",
      0,
      equalBlocks(services).map(({ lines, places }) => `${places.join(" = ")} (${lines} lines)`),
    ),
    countBar(
      "names that a library exports and nobody else imports",
      0,
      unusedExports(repository)
        .filter(({ path }) => !path.startsWith(libraryOfUsers))
        .map(({ path, name }) => `${path}: ${name}`),
    ),
    countBar(
      "circles of imports inside a package",
      0,
      circles(repository).map((paths) => paths.join(" → ")),
    ),
    countBar(
      "values of two libraries with one name",
      0,
      namesOfTwo(repository).map(({ name, paths }) => `${name}: ${paths.join(", ")}`),
    ),
    countBar(
      "values of two files with one name",
      null,
      namesOfTwoFiles(repository).map(({ name, paths }) => `${name}: ${paths.join(", ")}`),
    ),
  ];
}

function accountBars(repository: Repository): Bar[] {
  const modules = handWritten(repository).filter(({ path }) => path.startsWith("services/account/src/"));
  const largest = modules
    .toSorted((a, b) => b.lines - a.lines)
    .slice(0, 10)
    .map(({ path, lines }) => `${path} (${lines} lines)`);
  const lines = modules.reduce((sum, module) => sum + module.lines, 0);
  return [
    { name: "files of services/account/src", figure: modules.length, max: 135, places: [] },
    { name: "lines of services/account/src", figure: lines, max: 11_500, places: largest },
  ];
}

/** A place that was lost counts as one file too many: the walk has to be told again before it counts for anything. */
function tourBar(tour: Tour, read: (path: string) => string | null): Bar {
  const lost = lostPlaces(tour, read);
  const walked = tour.walks
    .map(({ name, files }) => ({ name, files: Object.keys(files).length }))
    .sort((a, b) => b.files - a.files);
  const most = walked[0]?.files ?? 0;
  return {
    name: tour.name,
    figure: lost.length > 0 ? Math.max(most, tour.filesMax + 1) : most,
    max: tour.filesMax,
    places: [...lost, ...walked.map(({ name, files }) => `${name} (${files} files)`)],
  };
}

function countBar(name: string, max: number | null, places: string[]): Bar {
  return { name, figure: places.length, max, places };
}

function describeFunction({ path, line, name, lines }: FunctionSize): string {
  return `${path}:${line} ${name} (${lines} lines)`;
}
