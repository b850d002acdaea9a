import type { EventLog } from "@signalbox/events";
import type { ServiceParts } from "@signalbox/runtime";
import {
  createSender,
  eventLogDatabase,
  eventually,
  internalToken,
  serveListener,
  startAccountStandIn,
  type TestAnswer,
  type TestContext,
  type TestPerson,
  testContext,
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
  /** Decides about a reader of the management `env`. */
  readonly authorizeManagement: NonNullable<ServiceParts["authorizeManagement"]>;
  query(
    who: TestPerson | null,
    query: string,
    options?: { variables?: object; headers?: Record<string, string> },
  ): Promise<TestAnswer>;
  post(body: string, headers?: Record<string, string>): Promise<TestAnswer>;
  get(query: string, headers?: Record<string, string>): Promise<TestAnswer>;
  close(): Promise<void>;
}

/** The services behind a gateway, and the properties that name them. */
interface Backends {
  readonly properties: Readonly<Record<string, string | boolean>>;
  readonly subgraphs: ReadonlyMap<SubgraphName, Subgraph>;
  close(): Promise<void>;
}

/** Starts stand-ins for the services, for gateways over one event log. */
async function startBackends(eventsUrl: string): Promise<Backends> {
  const account = await startAccountStandIn();
  const bare = testContext("gateway", properties, {
    ...Object.fromEntries(subgraphNames.map((name) => [`${name}.internal-url`, "http://127.0.0.1:1"])),
    "events.url": eventsUrl,
    "internal.token": internalToken,
  });
  const subgraphs = new Map(
    await Promise.all(
      subgraphNames.map(async (name) => [name, await startSubgraph(name, bare, internalToken)] as const),
    ),
  );
  // The account service answers principals and its subgraph at one address; here each has its own stand-in behind it.
  const accountFront = await joined(account.url, subgraphs.get("account")?.url ?? "");
  return {
    subgraphs,
    properties: {
      ...Object.fromEntries([...subgraphs].map(([name, { url }]) => [`${name}.internal-url`, url])),
      "account.internal-url": accountFront.url,
      "cache.url": "memory:",
      "events.url": eventsUrl,
      "internal.token": internalToken,
      "http.strict-responses": true,
    },
    async close() {
      await bare.close();
      await Promise.all([...subgraphs.values()].map((subgraph) => subgraph.close()));
      await Promise.all([accountFront.close(), account.close()]);
    },
  };
}

export async function startGateway(overrides: Overrides = {}): Promise<Harness> {
  const events = await eventLogDatabase();
  const backends = await startBackends(events.url);
  const { subgraphs } = backends;
  const context = testContext("gateway", properties, {
    ...backends.properties,
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
    url,
    subgraphs,
    eventLog,
    authorizeManagement: service.authorizeManagement as Harness["authorizeManagement"],
    post,
    query: (who, query, { variables, headers } = {}) =>
      post(JSON.stringify({ query, variables }), { ...who?.headers, ...headers }),
    get: (query, headers = {}) => send(null, "GET", `/graphql?query=${encodeURIComponent(query)}`, { headers }),
    async close() {
      await close();
      await context.close();
      await Promise.all([backends.close(), events.close()]);
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
