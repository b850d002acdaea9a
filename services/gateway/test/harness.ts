import { environment } from "@signalbox/config";
import type { EventLog } from "@signalbox/events";
import {
  createSender,
  eventually,
  internalToken,
  serveListener,
  startAccountStandIn,
  type TestAnswer,
  type TestContext,
  type TestPerson,
  testContext,
  testDatabase,
  testEventLog,
} from "@signalbox/testing";
import { properties } from "../src/properties.ts";
import { createService } from "../src/service.ts";
import { type Subgraph, type SubgraphName, startSubgraph, subgraphNames } from "./subgraphs.ts";

type Overrides = NonNullable<Parameters<typeof testContext<typeof properties>>[2]>;

/** The gateway in front of five small subgraphs, spoken to over HTTP. */
export interface Harness {
  readonly context: TestContext<typeof properties>;
  readonly url: string;
  readonly subgraphs: ReadonlyMap<SubgraphName, Subgraph>;
  readonly eventLog: EventLog;
  query(
    who: TestPerson | null,
    query: string,
    options?: { variables?: object; headers?: Record<string, string> },
  ): Promise<TestAnswer>;
  post(body: string, headers?: Record<string, string>): Promise<TestAnswer>;
  get(query: string, headers?: Record<string, string>): Promise<TestAnswer>;
  close(): Promise<void>;
}

export async function startGateway(overrides: Overrides = {}): Promise<Harness> {
  const [events, account] = await Promise.all([testDatabase(), startAccountStandIn()]);
  const bare = testContext("gateway", properties, {
    ...Object.fromEntries(subgraphNames.map((name) => [`${name}.internal-url`, "http://127.0.0.1:1"])),
    ...{ "events.url": events.url, "internal.token": internalToken },
  });
  const subgraphs = new Map(
    await Promise.all(
      subgraphNames.map(async (name) => [name, await startSubgraph(name, bare, internalToken)] as const),
    ),
  );
  // The account service answers principals and its subgraph at one address; here each has its own stand-in behind it.
  const accountFront = await joined(account.url, subgraphs.get("account")?.url ?? "");
  const context = testContext("gateway", properties, {
    ...Object.fromEntries([...subgraphs].map(([name, { url }]) => [`${name}.internal-url`, url])),
    "account.internal-url": accountFront.url,
    "cache.url": "memory:",
    "events.url": events.url,
    "internal.token": internalToken,
    "http.strict-responses": true,
    ...(environment().GATEWAY_EXECUTOR === "apollo" && { "graphql.executor": "apollo" }),
    ...overrides,
  });
  const eventLog = await testEventLog(events.url, context);
  const service = await createService(context);
  const { url, close } = await serveListener(service.public, service.upgrade);
  await eventually(async () => (await context.health.report()).startup.status === "up");

  const send = createSender(url);
  const post: Harness["post"] = (body, headers = {}) =>
    send(null, "POST", "/graphql", { body, headers: { ...json, ...headers } });
  return {
    context,
    ...{ url, subgraphs, eventLog },
    post,
    query: (who, query, { variables, headers } = {}) =>
      post(JSON.stringify({ query, variables }), { ...who?.headers, ...headers }),
    get: (query, headers = {}) => send(null, "GET", `/graphql?query=${encodeURIComponent(query)}`, { headers }),
    async close() {
      await close();
      await Promise.all([context.close(), bare.close()]);
      await Promise.all([...subgraphs.values()].map((subgraph) => subgraph.close()));
      await Promise.all([accountFront.close(), account.close(), events.close()]);
    },
  };
}

const json = { "content-type": "application/json" };

/** Sends `/graphql` to one address and everything else to the other. */
function joined(others: string, graphql: string) {
  return serveListener(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const target = request.url?.startsWith("/graphql") ? graphql : others;
    const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
    const answer = await fetch(target + request.url, {
      method: "POST",
      headers: headers as Record<string, string>,
      body: Buffer.concat(chunks),
    }).catch(() => null);
    if (answer === null) return void response.destroy();
    response.writeHead(answer.status, json).end(Buffer.from(await answer.arrayBuffer()));
  });
}
