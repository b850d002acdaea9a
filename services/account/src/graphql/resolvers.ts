import { readFile } from "node:fs/promises";
import type { Resolvers, SubgraphOptions } from "@signalbox/graphql";
import { administrationApi } from "../administration/administration-api.ts";
import { auditApi } from "../audit/audit-api.ts";
import type { Capabilities } from "../capabilities.ts";
import { apiKeyApi } from "../credentials/api-keys.ts";
import { serviceClientApi } from "../credentials/service-clients.ts";
import { signInApi } from "../sign-ins/sign-in-list.ts";
import { accountResolvers } from "./account-resolvers.ts";
import { contactMutations } from "./contact-mutations.ts";
import { type AccountLoaders, createLoaders } from "./loaders.ts";

type Table = Resolvers<AccountLoaders>;
type Graph = Pick<SubgraphOptions<AccountLoaders>, "typeDefs" | "createLoaders">;

const schemaFile = new URL("../../schema.graphql", import.meta.url);

/** The account service's part of the graph. */
export async function openGraph(capabilities: Capabilities): Promise<Graph> {
  return {
    typeDefs: await readFile(schemaFile, "utf8"),
    createLoaders: (principal) => createLoaders(capabilities, principal),
  };
}

/** Every resolver, by type and field. */
export function resolversOf(capabilities: Capabilities): Table {
  return mergeTables([
    accountResolvers(capabilities),
    administrationApi(capabilities).resolvers,
    auditApi(capabilities).resolvers,
    apiKeyApi(capabilities).resolvers,
    serviceClientApi(capabilities).resolvers,
    contactMutations(capabilities),
    signInApi(capabilities).resolvers,
  ]);
}

/** Merges the tables: each may add fields to `Query`, `Mutation` or `Account`. @throws Error for a duplicate field. */
function mergeTables(tables: readonly Table[]): Table {
  const merged: Record<string, Table[string]> = {};
  for (const table of tables) {
    for (const [type, fields] of Object.entries(table)) {
      const known = merged[type] ?? {};
      const twice = Object.keys(fields).find((name) => Object.hasOwn(known, name));
      if (twice !== undefined) throw new Error(`two tables resolve ${type}.${twice}`);
      merged[type] = { ...known, ...fields };
    }
  }
  return merged;
}
