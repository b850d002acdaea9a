import { readFile } from "node:fs/promises";
import type { WorkLimits } from "@signalbox/http";
import { Kind, parse } from "graphql";
import type { AskServices } from "../operating/ask-services.ts";
import { type WatchedDependencies, watchSource } from "../watched/watch-source.ts";
import { CurrentSupergraph } from "./current-supergraph.ts";
import { openExecution } from "./execution.ts";
import { createLocalSubgraph } from "./local-subgraph.ts";
import { createSubgraphSender, type SenderParts } from "./subgraph-sender.ts";
import type { Supergraph } from "./supergraph.ts";

/** Composed from the services' subgraph.graphql by `npm run generate`. */
const supergraphFile = new URL("../generated/supergraph.graphql", import.meta.url);

interface SupergraphParts extends Omit<SenderParts, "name" | "client">, WatchedDependencies {
  readonly clients: ReadonlyMap<string, SenderParts["client"]>;
  /** What callers may spend on plans. */
  readonly work: WorkLimits;
  /** Asks the services for the chain behind an id, which the graph has too. */
  readonly ask: AskServices;
  /** A path or URL of a supergraph that replaces the composed one; watched for changes. */
  readonly location: string | null;
}

/**
 * Opens the composed graph. The composition was checked when it was generated, so an outage of a subgraph does not
 * prevent the gateway's start: only its fields fail. An external supergraph is checked at every change.
 *
 * @throws Error when the first supergraph cannot be read or is refused.
 */
export async function openSupergraph({
  location,
  clients,
  ask,
  ...parts
}: SupergraphParts): Promise<CurrentSupergraph> {
  const senders = new Map(
    [...clients].map(([name, client]) => [name, createSubgraphSender({ ...parts, name, client })]),
  );
  senders.set("local", await createLocalSubgraph(senders, ask));
  const open = async (supergraphSdl: string): Promise<Supergraph> => {
    assertKnown(subgraphsIn(supergraphSdl), senders);
    return openExecution(supergraphSdl, senders, parts.work);
  };
  const current = new CurrentSupergraph();
  const apply = async (supergraphSdl: string) => current.replace(await open(supergraphSdl));
  if (location === null) await apply(await readFile(supergraphFile, "utf8"));
  else await watchSource({ ...parts, name: "supergraph", location }, apply);
  return current;
}

/**
 * Checks the subgraphs. Their addresses are configured, so that a supergraph cannot send callers' principals elsewhere.
 */
function assertKnown(names: readonly string[], senders: ReadonlyMap<string, unknown>): void {
  const unknown = names.filter((name) => !senders.has(name));
  if (unknown.length > 0) throw new Error(`the supergraph names unknown subgraphs: ${unknown.join(", ")}`);
}

/** Lists the subgraphs of `join__Graph`. */
function subgraphsIn(supergraphSdl: string): string[] {
  const definitions = parse(supergraphSdl, { noLocation: true }).definitions;
  return definitions.flatMap((definition) => {
    if (definition.kind !== Kind.ENUM_TYPE_DEFINITION || definition.name.value !== "join__Graph") return [];
    const directives = (definition.values ?? []).flatMap((value) => value.directives ?? []);
    return directives.flatMap(({ arguments: given = [] }) =>
      given.flatMap(({ name, value }) => (name.value === "name" && value.kind === Kind.STRING ? [value.value] : [])),
    );
  });
}
