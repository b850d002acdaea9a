import { setTimeout as sleep } from "node:timers/promises";
import type { Receiver } from "@signalbox/testing";
import type { Headers } from "../audit/world.ts";
import { type Answer, type Client, expectStatus, githubHeaders, photoForm } from "../journey/client.ts";

/** The system and the servers that both accounts use. */
export interface Neighbourhood {
  readonly send: Client;
  readonly photo: Buffer;
  readonly receiver: Receiver;
  /** Address of a server that takes requests and never answers. */
  readonly silentUrl: string;
}

/** A way in which one account could make another one wait. */
export interface Neighbour {
  readonly name: string;
  /** Prepares the requests of the busy account. */
  readonly load: (place: Neighbourhood, busy: Headers) => Promise<Load>;
  /** Prepares the requests of the quiet account. Each call is one, and throws unless it succeeds. */
  readonly ask: (place: Neighbourhood, quiet: Headers) => Promise<() => Promise<unknown>>;
}

const endpointsPath = "/api/v1/webhooks/endpoints";
const eventsPath = "/api/v1/webhooks/events";
const typesPath = "/api/v1/webhooks/event-types";
const sourcesPath = "/api/v1/webhooks/sources";

const repeated = (count: number, part: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => part(at)).join(" ");
const batchOf = (type: string, data: object) => Array.from({ length: 100 }, () => ({ type, data }));

export const neighbours: readonly Neighbour[] = [
  {
    name: "receivers: 100 endpoints of one host hang",
    async load({ send, silentUrl }, busy) {
      const type = "neighbour.stuck";
      for (let at = 0; at < 100; at++)
        await create(send, busy, endpointsPath, { url: `${silentUrl}/${at}`, event_types: [type] });
      const request = () => post(send, busy, eventsPath, batchOf(type, {}));
      return { lanes: 1, times: 5, request };
    },
    async ask({ send, receiver }, quiet) {
      const path = `/neighbour-${crypto.randomUUID()}`;
      await create(send, quiet, endpointsPath, { url: receiver.url + path, event_types: ["neighbour.asked"] });
      return async () => {
        const id = crypto.randomUUID();
        expectStatus(await post(send, quiet, eventsPath, { id, type: "neighbour.asked", data: {} }), 202);
        await receiver.waitFor((request) => request.path === path && request.headers["webhook-id"] === id);
      };
    },
  },
  {
    name: "schemas: a pattern that backtracks without end",
    async load({ send }, busy) {
      const type = "neighbour.slow";
      const schema = { type: "object", properties: { text: { type: "string", pattern: "^(a+)+$" } } };
      const declared = await post(send, busy, typesPath, { name: type, schema, enforcement: "block" });
      const events = batchOf(type, { text: `${"a".repeat(40)}!` });
      // A system that refuses the pattern is asked for it again and again.
      const request = () =>
        declared.status === 201
          ? post(send, busy, eventsPath, events)
          : post(send, busy, typesPath, { name: type, schema, enforcement: "block" });
      return { lanes: 4, request };
    },
    ask:
      async ({ send }, quiet) =>
      async () =>
        expectStatus(await send(endpointsPath, { headers: { ...quiet } }), 200),
  },
  {
    name: "introspection: twenty aliases of the schema on four connections",
    load: async (place, busy) =>
      documents(place, busy, [
        `{ ${repeated(20, (at) => `a${at}: __schema { types { name fields { name type { name kind } } } }`)} }`,
      ]),
    ask: async (place, quiet) => () => viewer(place, quiet),
  },
  {
    name: "refused documents: fragments, misspelt names, repeated fields",
    load: async (place, busy) =>
      documents(place, busy, [
        `{ viewer { ${repeated(300, (at) => `...f${at}`)} } } ${repeated(300, (at) => `fragment f${at} on Account { id }`)}`,
        `{ viewer { ${repeated(3_900, (at) => `displayNam${at}`)} } }`,
        `{ viewer { ${repeated(3_980, () => "id")} } }`,
        `{ viewer { ${repeated(430, () => "images(first: 3) { __typename }")} } }`,
      ]),
    ask: async (place, quiet) => () => viewer(place, quiet),
  },
  {
    name: "malformed events: 0.9 MB of them on sixteen connections",
    async load({ send }, busy) {
      const events = Array(450_000).fill(0);
      return { lanes: 16, request: () => post(send, busy, eventsPath, events) };
    },
    ask: async (place, quiet) => () => viewer(place, quiet),
  },
  {
    name: "plans: new shapes of 1 KB on sixteen connections",
    async load({ send }, busy) {
      const request = () => post(send, busy, "/graphql", { query: newShape(30) });
      return { lanes: 16, request };
    },
    ask:
      async ({ send }, quiet) =>
      async () => {
        const { json } = expectStatus(await post(send, quiet, "/graphql", { query: newShape(2) }), 200);
        if (json.errors) throw new Error(`a query was answered ${JSON.stringify(json.errors)}`);
      },
  },
  {
    name: "ingest: a partner posts to a source that is gone",
    async load({ send }, busy) {
      const { id, ingest_path: path } = await create(send, busy, sourcesPath, source("Gone"));
      expectStatus(await send(`${sourcesPath}/${id}`, { method: "DELETE", headers: { ...busy } }), 204);
      return { lanes: 2, request: () => send(path, signed()) };
    },
    async ask({ send }, quiet) {
      const { ingest_path: path } = await create(send, quiet, sourcesPath, source("Live"));
      return async () => {
        const { status, bytes } = await send(path, signed());
        if (status >= 300) throw new Error(`a webhook was answered ${status}: ${bytes}`);
      };
    },
  },
  {
    name: "thumbnails: sixty new crops at once",
    async load(place, busy) {
      const path = await contentPath(place, busy);
      return {
        lanes: 60,
        request: (at) => place.send(`${path}?width=400&height=${100 + at}`, { headers: { ...busy } }),
      };
    },
    async ask(place, quiet) {
      const path = await contentPath(place, quiet);
      let width = 100;
      return async () => expectStatus(await place.send(`${path}?width=${width++}`, { headers: { ...quiet } }), 200);
    },
  },
];

const post = (send: Client, headers: Headers, path: string, body: unknown): Promise<Answer> =>
  send(path, { method: "POST", headers: { ...headers }, body });

async function create(send: Client, headers: Headers, path: string, body: unknown) {
  return expectStatus(await post(send, headers, path, body), 201).json;
}

/** A load of documents on four connections. */
const documents = ({ send }: Neighbourhood, busy: Headers, queries: readonly string[]): Load => ({
  lanes: 4,
  request: (at) => post(send, busy, "/graphql", { query: queries[at % queries.length] }),
});

async function viewer({ send }: Neighbourhood, quiet: Headers): Promise<void> {
  const { json } = expectStatus(await post(send, quiet, "/graphql", { query: "{ viewer { id } }" }), 200);
  if (json.errors) throw new Error(`a query was answered ${JSON.stringify(json.errors)}`);
}

/** Writes a query that nobody has asked before: with other aliases it is planned anew. */
function newShape(fields: number): string {
  const alias = () => `a${crypto.randomUUID().slice(0, 8)}`;
  const images = `${alias()}: images(first: 1) { edges { node { ${alias()}: id } } }`;
  return `{ viewer { ${repeated(fields, () => `${alias()}: displayName`)} ${images} } }`;
}

async function contentPath({ send, photo }: Neighbourhood, headers: Headers): Promise<string> {
  const { id } = await create(send, headers, "/images", photoForm(photo));
  return `/images/${id}/content`;
}

const secret = "a secret that both sources have";
const source = (name: string) => ({ name, scheme: "github", secret });

function signed() {
  const body = Buffer.from(JSON.stringify({ at: crypto.randomUUID() }));
  return { body, headers: githubHeaders(secret, body) };
}

/** Requests of one account. */
export interface Load {
  /** Concurrent requests. */
  readonly lanes: number;
  /** Number of requests in all; without it they go on until the load is disposed. */
  readonly times?: number;
  readonly request: (at: number) => Promise<Answer>;
}

/** A refused client of ours waits this long, so that the load is that of the system and not of its clients. */
const refusedMs = 100;

/** Keeps the load up until it is disposed. A request without an answer is a part of the load. */
export function keepUp({ lanes, times = Number.POSITIVE_INFINITY, request }: Load): AsyncDisposable {
  let at = 0;
  let isOver = false;
  const lane = async (): Promise<void> => {
    while (!isOver && at < times) {
      const answer = await request(at++).catch(() => null);
      if (answer === null || answer.status >= 400) await sleep(refusedMs);
    }
  };
  const all = Promise.all(Array.from({ length: lanes }, lane));
  return {
    async [Symbol.asyncDispose]() {
      isOver = true;
      await all;
    },
  };
}
