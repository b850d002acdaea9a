import { readFile } from "node:fs/promises";
import process from "node:process";
import { ApolloGateway, RemoteGraphQLDataSource } from "@apollo/gateway";
import { ApolloServer } from "@apollo/server";
import { startStandaloneServer } from "@apollo/server/standalone";
import { setVariable } from "@signalbox/runtime";

/** Apollo's gateway behind Apollo's server as in their documentation, in a process of its own. */
const [supergraphFile = "", port = ""] = process.argv.slice(2);
setVariable("APOLLO_TELEMETRY_DISABLED", "1");
setVariable("NODE_ENV", "production");

/** Subgraphs need the caller's account; nothing else is forwarded to them. */
class Forwarding extends RemoteGraphQLDataSource<{ authorization?: string }> {
  override willSendRequest({
    request,
    context,
  }: Parameters<NonNullable<RemoteGraphQLDataSource["willSendRequest"]>>[0]) {
    const { authorization } = context as { authorization?: string };
    if (authorization !== undefined) request.http?.headers.set("authorization", authorization);
  }
}

const gateway = new ApolloGateway({
  supergraphSdl: await readFile(supergraphFile, "utf8"),
  buildService: ({ url }) => new Forwarding(url === undefined ? {} : { url }),
});
const server = new ApolloServer({ gateway });
await startStandaloneServer(server, {
  listen: { port: Number(port), host: "127.0.0.1" },
  context: async ({ req: { headers } }) => ({ authorization: headers.authorization }),
});
