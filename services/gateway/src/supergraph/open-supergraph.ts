import { readFile } from "node:fs/promises";
import { openApolloExecutor } from "./apollo-executor.ts";
import { createLocalSubgraph } from "./local-subgraph.ts";
import { openOwnExecutor } from "./own-executor.ts";
import { createSubgraphSender, type SenderParts } from "./subgraph-sender.ts";
import type { Supergraph } from "./supergraph.ts";

/** Composed from the services' schema.graphql by `npm run generate`. */
const supergraphFile = new URL("../generated/supergraph.graphql", import.meta.url);

/**
 * Opens the composed graph. The composition was checked when it was generated, so a subgraph that is away now does not
 * keep the gateway from starting: its fields fail alone.
 */
export async function openSupergraph({
  executor,
  clients,
  ...parts
}: Omit<SenderParts, "name" | "client"> & {
  executor: "ours" | "apollo";
  clients: ReadonlyMap<string, SenderParts["client"]>;
  log: Parameters<typeof openApolloExecutor>[0]["log"];
}): Promise<Supergraph> {
  const supergraphSdl = await readFile(supergraphFile, "utf8");
  const senders = new Map(
    [...clients].map(([name, client]) => [name, createSubgraphSender({ ...parts, name, client })]),
  );
  senders.set("local", await createLocalSubgraph(senders));
  const openApollo = () => openApolloExecutor({ supergraphSdl, senders, log: parts.log });
  return executor === "apollo" ? openApollo() : openOwnExecutor({ ...parts, supergraphSdl, senders, openApollo });
}
