import { readFile } from "node:fs/promises";
import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { AppError } from "@signalbox/core";
import {
  connectionArguments,
  createInternalApp,
  createRoutes,
  createSubgraph,
  field,
  type Resolvers,
} from "@signalbox/http";
import { type ServedListener, serveListener, type testContext } from "@signalbox/testing";

export const subgraphNames = ["account", "images", "config", "webhook-ingest", "webhook-delivery"] as const;
export type SubgraphName = (typeof subgraphNames)[number];

/** A small stand-in behind the schema that the real service has, on an internal listener of its own. */
export interface Subgraph extends ServedListener {
  /** The headers of every request that passed the internal token. */
  readonly heard: IncomingHttpHeaders[];
  /** Answers instead of the subgraph, until it is null again. */
  instead: RequestListener | null;
}

const account = (id: string) => ({ __typename: "Account", id, displayName: "Ada" });
const page = (args: { first?: number }) => {
  const { limit } = connectionArguments(args, { maxPageSize: 100, defaultPageSize: 20 });
  return { edges: [{ cursor: `of ${limit}`, node: { id: "img_1" } }], pageInfo: { hasNextPage: false } };
};

const open = { scopes: [], access: "own-account:read", optional: true } as const;

const resolvers: Record<SubgraphName, Resolvers> = {
  account: {
    Query: {
      viewer: field({ scopes: [], access: "own-account:read" }, (_parent, _args, { caller }) =>
        account(caller.accountId),
      ),
      accounts: field(open, () => ({
        edges: ["acc_1", "acc_2"].map((id) => ({ cursor: id, node: account(id) })),
        pageInfo: { hasNextPage: false },
      })),
    },
    Mutation: {
      updateAccount: field(open, (_parent, { input }: { input: { displayName: string } }) => ({
        account: { ...account("acc_1"), displayName: input.displayName },
        errors: [],
      })),
      signOutEverywhere: field({ scopes: [], stepUp: true }, () => ({ account: account("acc_1"), errors: [] })),
    },
    Account: {
      __resolveReference: field(open, ({ id }: { id: string }) => account(id)),
      locale: () => {
        throw new Error("connect ECONNREFUSED 10.1.2.3:5432");
      },
      timezone: () => {
        throw new AppError("not_found", "There is no time zone.");
      },
    },
  },
  images: {
    Account: {
      __resolveReference: field(open, ({ id }: { id: string }) => ({ id })),
      images: field({ scopes: [] }, (_parent, args: { first?: number }) => page(args)),
    },
    Image: { filename: () => "photo.jpg" },
  },
  config: {
    Query: {
      serverSettings: field(open, () => ({
        server: { name: "Signalbox", baseUrl: "https://signalbox.example" },
        locale: "en",
        limits: { pageSize: 100 },
      })),
    },
  },
  "webhook-ingest": {},
  "webhook-delivery": {
    Account: {
      __resolveReference: field(open, ({ id }: { id: string }) => ({ id })),
      webhookEndpoints: (_p, args) => page(args),
    },
  },
};

/** Serves one subgraph behind the internal token. */
export async function startSubgraph(
  name: SubgraphName,
  context: Parameters<typeof createInternalApp>[0]["context"] & ReturnType<typeof testContext>,
  token: string,
): Promise<Subgraph> {
  const heard: IncomingHttpHeaders[] = [];
  const typeDefs = await readFile(new URL(`../../${name}/subgraph.graphql`, import.meta.url), "utf8");
  const graph = createSubgraph({
    typeDefs,
    resolvers: resolvers[name],

    log: context.log,
    clock: context.clock,
  });
  const noting: RequestListener = (request, response) => {
    heard.push(request.headers);
    (subgraph.instead ?? graph)(request, response);
  };
  const app = createInternalApp({ context, tokens: [token], routes: createRoutes(), mounts: { "/graphql": noting } });
  const subgraph: Subgraph = { ...(await serveListener(app)), heard, instead: null };
  return subgraph;
}
