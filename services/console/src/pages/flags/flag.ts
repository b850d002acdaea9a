import { queryOptions } from "@tanstack/react-query";
import { askGraph, type Connection, payloadOf } from "../../session/graph.ts";

/** A flag without the parts that a change brings itself. */
export interface FlagDefinition {
  readonly key: string;
  readonly state: "enabled" | "disabled" | "preview" | "deprecated";
  readonly type: string;
  readonly owner: string;
  readonly description: string;
  readonly expires: string | null;
  readonly default: string;
  readonly off: string;
  readonly variants: ReadonlyArray<{ readonly name: string; readonly value: unknown }>;
  readonly rules: ReadonlyArray<Readonly<Record<string, unknown>> & { readonly variant: string }>;
  readonly schedule: Readonly<Record<string, unknown>> | null;
  readonly prerequisites: ReadonlyArray<{ readonly flag: string; readonly variants: readonly string[] }>;
  readonly salt: string;
  /** True when keys of browsers and apps see it. */
  readonly client?: boolean | null;
}

export interface Flag extends FlagDefinition {
  readonly revision: string;
  readonly reason: string | null;
  readonly actor: string;
  readonly changedAt: string;
}

const flagFields = `key state type client owner description expires default off salt revision reason actor changedAt
  variants { name value } schedule { from until } prerequisites { flag variants }
  rules { name accounts roles locales attributes { name operator value } percentage by variant age { from to } }`;

/** Every flag with its rules. */
export const flagsQuery = queryOptions({
  queryKey: ["flags"],
  queryFn: async () => (await askGraph<{ flags: readonly Flag[] }>(`query { flags { ${flagFields} } }`)).flags,
});

/** The members of a flag that a person edits, in the order in which they are read. */
export function definitionOf(flag: FlagDefinition): FlagDefinition {
  const { key, state, type, owner, description, expires, variants, rules, schedule, prerequisites, salt, client } =
    flag;
  const own = { key, state, type, owner, description, expires, default: flag.default, off: flag.off, variants };
  const seen = client ? { client } : {};
  return { ...own, ...seen, rules: rules.map(withoutNulls), schedule, prerequisites, salt };
}

function withoutNulls<Part extends object>(part: Part): Part {
  const given = Object.entries(part).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, name === "age" ? withoutNulls(value) : value])) as Part;
}

/** One change of a flag. */
export interface FlagChange {
  readonly revision: string;
  /** The flag as it was from then on; null where it was archived. */
  readonly flag: Flag | null;
  readonly actor: string;
  readonly reason: string | null;
  readonly changedAt: string;
}

const historyQuery = `query($key: String!, $first: Int, $after: String) {
  flagHistory(key: $key, first: $first, after: $after) { pageInfo { hasNextPage endCursor }
    edges { node { revision actor reason changedAt flag { ${flagFields} } } } } }`;

/** Reads a page of the changes of a flag, the newest first. */
export async function readFlagHistory(
  key: string,
  first: number,
  after: string | null,
): Promise<Connection<FlagChange>> {
  return (await askGraph<{ flagHistory: Connection<FlagChange> }>(historyQuery, { key, first, after })).flagHistory;
}

/** The members of a definition as JSON, to compare two of them. */
export function membersOf(flag: FlagDefinition): Record<string, string> {
  const { salt, ...members } = definitionOf(flag);
  return Object.fromEntries(
    Object.entries(salt === "" ? members : { ...members, salt }).map(([name, value]) => [name, JSON.stringify(value)]),
  );
}

interface Wanted {
  readonly expectedRevision: string;
  readonly reason: string;
  readonly isDryRun?: boolean;
}

interface Payload {
  readonly flag: Flag | null;
  readonly revision: string | null;
  readonly instances: number;
  readonly applied: number;
  readonly errors: readonly { readonly field: string | null; readonly code: string; readonly message: string }[];
}

const payload = `flag { ${flagFields} } revision instances applied errors { field code message }`;
const setMutation = `mutation($input: SetFlagInput!) { setFlag(input: $input) { ${payload} } }`;
const archiveMutation = `mutation($input: ArchiveFlagInput!) { archiveFlag(input: $input) { ${payload} } }`;

/** Instances evaluate with a change within this time when nothing is wrong. */
const waitForMs = 5_000;

/**
 * Sets a flag whole, or only asks whether that is allowed.
 * @throws ApiError 409 when somebody else has changed it since it was seen
 */
export async function setFlag(definition: FlagDefinition, { expectedRevision, reason, isDryRun = false }: Wanted) {
  const { salt, ...members } = definition;
  // Without a salt the flag keeps its own.
  const flag = salt ? definition : members;
  const input = { ...flag, expectedRevision, reason, dryRun: isDryRun, ...(!isDryRun && { waitForMs }) };
  return payloadOf((await askGraph<{ setFlag: Payload }>(setMutation, { input })).setFlag);
}

/** Archives a flag that no code evaluates any more. */
export async function archiveFlag(key: string, { expectedRevision, reason }: Wanted) {
  const input = { key, expectedRevision, reason, waitForMs };
  return payloadOf((await askGraph<{ archiveFlag: Payload }>(archiveMutation, { input })).archiveFlag);
}
