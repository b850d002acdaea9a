import { diff } from "@graphql-inspector/core";
import { buildSchema } from "graphql";

/** One side of a comparison: the text of a file, and the files of a folder, by their paths. */
export interface Snapshot {
  /** Null when it is not there. */
  read(path: string): string | null;
  list(folder: string): readonly string[];
}

/** Consequence of a change for users of the product. */
type Weight = "breaking" | "addition" | "other";

export interface ContractChange {
  readonly part: "events" | "routes" | "graph" | "properties" | "client" | "databases";
  readonly weight: Weight;
  readonly text: string;
}

const events = "libs/contracts/accepted";
const routes = "docs/reference/access.md";
const graph = "docs/reference/graphql-schema.graphql";
const properties = "docs/reference/properties.md";
const client = "libs/client/api-report.txt";

/** Finds what changed of schemas and APIs between two versions, from what is checked in alone. */
export async function contractChanges(before: Snapshot, after: Snapshot): Promise<ContractChange[]> {
  return [
    ...eventChanges(before, after),
    ...named("routes", routesOf(before.read(routes)), routesOf(after.read(routes)), "breaking"),
    ...(await graphChanges(before.read(graph), after.read(graph))),
    // A removed property stops the start of everybody who sets it.
    ...named("properties", propertiesOf(before.read(properties)), propertiesOf(after.read(properties)), "breaking"),
    ...clientChanges(before.read(client), after.read(client)),
    ...migrationChanges(before, after),
  ];
}

/** `npm run accept` lets nothing through that breaks a reader, so a change here is an addition to its schema. */
function eventChanges(before: Snapshot, after: Snapshot): ContractChange[] {
  const typesOf = (side: Snapshot) => {
    const files = side.list(events).map((path) => JSON.parse(side.read(path) ?? "{}") as Record<string, object>);
    return new Map(files.flatMap(Object.entries).map(([type, schema]) => [type, JSON.stringify(schema)]));
  };
  const [old, now] = [typesOf(before), typesOf(after)];
  const changed = [...now].filter(([name, text]) => old.has(name) && old.get(name) !== text);
  return [
    ...named("events", [...old.keys()], [...now.keys()], "breaking"),
    ...changed.map(([name]) => ({ part: "events", weight: "addition", text: `${name} has more` }) as const),
  ];
}

function named(
  part: ContractChange["part"],
  old: readonly string[],
  now: readonly string[],
  ofRemoval: Weight,
): ContractChange[] {
  const added = now.filter((name) => !old.includes(name));
  const removed = old.filter((name) => !now.includes(name));
  return [
    ...removed.map((name) => ({ part, weight: ofRemoval, text: `${name} is gone` })),
    ...added.map((name) => ({ part, weight: "addition" as const, text: `${name} is new` })),
  ];
}

/** `GET /images/{image_id}` and so on, from the page of who may do what. */
const routesOf = (page: string | null): string[] => firstCells(page).filter((cell) => /^[A-Z]+ \//.test(cell));

/** The names, from the page of all properties. */
const propertiesOf = firstCells;

/** Compares the members of the client, of bodies and of answers, by their names. What is new is told by its method. */
function clientChanges(old: string | null, now: string | null): ContractChange[] {
  if (old === null || now === null) return [];
  const membersOf = (report: string): string[] =>
    [...report.matchAll(/^([A-Za-z][\w.]*\.(?:readonly )?["\w]+)\??[(:<]/gm)].map(([, name = ""]) => name);
  const changes = named("client", membersOf(old), membersOf(now), "breaking");
  return changes.filter(({ weight, text }) => weight === "breaking" || text.startsWith("Resources."));
}

/** Reads the names in code format from the first column of a page's tables. */
function firstCells(page: string | null): string[] {
  return [...(page ?? "").matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell = ""]) => cell);
}

async function graphChanges(old: string | null, now: string | null): Promise<ContractChange[]> {
  if (old === null || now === null) return [];
  const changes = await diff(buildSchema(old, { assumeValid: true }), buildSchema(now, { assumeValid: true }));
  const weights: Readonly<Record<string, Weight>> = { BREAKING: "breaking", NON_BREAKING: "addition" };
  return changes.map(({ criticality, message }) => ({
    part: "graph",
    weight: weights[criticality.level] ?? "other",
    text: message,
  }));
}

/** A contraction ends the way back to the version before: its processes refuse to start on it. */
function migrationChanges(before: Snapshot, after: Snapshot): ContractChange[] {
  const isMigration = (path: string) => /\/migrations\/.*\.sql$/.test(path);
  const known = new Set(["services", "libs"].flatMap((folder) => before.list(folder)).filter(isMigration));
  const added = ["services", "libs"].flatMap((folder) => after.list(folder)).filter(isMigration);
  return added
    .filter((path) => !known.has(path))
    .map((path) => {
      const kind = /^-- signalbox: (expand|contract)\b/.exec(after.read(path) ?? "")?.[1] ?? "contract";
      return { part: "databases", weight: kind === "expand" ? "addition" : "breaking", text: `${path} (${kind})` };
    });
}
