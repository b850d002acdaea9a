import { exportsOf, type Module, type Repository } from "./modules.ts";

/** A way that a reader takes through a service, from its route table to the ends that make up one operation. */
interface Walk {
  readonly title: string;
  readonly service: string;
  /** The export that declares the route. */
  readonly route: string;
  /** The export with the rule of the operation. */
  readonly rule: string;
  /** The other exports of its story: rows, events, views, steps. */
  readonly story: readonly string[];
  /** Files from the declaration of the route to the rule, both included, and of the whole story with the route table. */
  readonly max: readonly [rule: number, story: number];
}

const walks: readonly Walk[] = [
  {
    title: "rename a key",
    service: "account",
    route: "apiKeyApi",
    rule: "createCredentials",
    story: ["credentialOperations", "createApiKeyStore", "apiKeyEvents", "viewApiKey"],
    max: [2, 5],
  },
  {
    title: "change an endpoint",
    service: "webhook-delivery",
    route: "endpointApi",
    rule: "endpointFrom",
    story: ["createEndpoints", "createEndpointStore", "endpointUpdated", "createEndpointViews"],
    max: [2, 6],
  },
  {
    title: "pause a source",
    service: "webhook-ingest",
    route: "sourceApi",
    rule: "createSources",
    story: ["createSourceStore", "sourceUpdated", "viewSource"],
    max: [2, 5],
  },
  {
    title: "upload an image",
    service: "images",
    route: "uploadApi",
    rule: "createImages",
    story: [
      "receiveUpload",
      "createUploads",
      "createOriginals",
      "createBlobs",
      "createImageStore",
      "createImageEvents",
    ],
    max: [3, 9],
  },
];

/** Measures the walks of the services that the repository has, by following imports from `edges.ts`. */
export function measureWalks(repository: Repository) {
  return walks.flatMap(({ title, service, route, rule, story, max: [ruleMax, storyMax] }) => {
    const start = `services/${service}/src/edges.ts`;
    if (!repository.modules.some(({ path }) => path === start)) return [];
    const wayTo = walkerOf(start, repository);
    const toRoute = wayTo([start], route);
    const toRule = wayTo(toRoute.slice(-1), rule);
    const add = (files: string[], name: string) => [...new Set([...files, ...wayTo(files, name)])];
    const whole = story.reduce(add, [...new Set([...toRoute, ...toRule])]);
    return [
      { name: `files from a route to its rule: ${title}`, figure: toRule.length, max: ruleMax, places: toRule },
      { name: `files of a whole story: ${title}`, figure: whole.length, max: storyMax, places: whole },
    ];
  });
}

type WayTo = (from: readonly string[], name: string) => string[];

/** Returns the shortest way by imports from one of some files to the file with an export. @throws Error where none leads there */
function walkerOf(start: string, repository: Repository): WayTo {
  const folder = start.slice(0, start.lastIndexOf("/") + 1);
  const own = new Map(repository.modules.filter(({ path }) => path.startsWith(folder)).map((one) => [one.path, one]));
  const owners = new Map<string, string>();
  for (const module of own.values()) {
    for (const { name, isType } of exportsOf(module, repository)) if (!isType) owners.set(name, module.path);
  }
  return (from, name) => {
    const end = owners.get(name);
    const cameFrom = breadthFirst(from, own);
    if (end === undefined || !cameFrom.has(end)) throw new Error(`No import leads from ${start} to ${name}.`);
    const way = [end];
    for (let at = cameFrom.get(end); at; at = cameFrom.get(at)) way.unshift(at);
    return way;
  };
}

/** Visits files in the order of their distance; each with the file that led there. */
function breadthFirst(from: readonly string[], own: ReadonlyMap<string, Module>): Map<string, string | null> {
  const cameFrom = new Map<string, string | null>(from.map((path) => [path, null]));
  for (const path of cameFrom.keys()) {
    for (const { target } of own.get(path)?.imports ?? []) {
      if (target !== null && own.has(target) && !cameFrom.has(target)) cameFrom.set(target, path);
    }
  }
  return cameFrom;
}
