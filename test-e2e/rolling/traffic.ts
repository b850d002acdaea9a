import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LogRecord } from "../ledger/evidence.ts";
import { type Call, createHttp, formOf, type Http, type Reply } from "../ledger/http.ts";
import { createRandom, pictureOf } from "../ledger/random.ts";
import type { Instance } from "../ledger/systems/instance.ts";
import { signed } from "../ledger/writers/webhooks.ts";
import { services } from "../systems/engines-system.ts";
import type { RollingSystem } from "./rolling-system.ts";

/** An acknowledged change, in the terms of its event. */
export type Change = string;

/** A request that failed, although one of two instances could have answered it. */
export interface Failure {
  readonly id: string;
  readonly name: string;
  readonly answer: string;
}

export interface Traffic {
  /** Stops sending, waits for the answers and returns the results of all requests. */
  end(): Promise<TrafficResult>;
}

interface TrafficResult {
  readonly asked: number;
  readonly changes: readonly Change[];
  readonly failures: readonly Failure[];
}

/** One kind of request, and the change that it makes. */
interface Kind {
  readonly name: string;
  /** Builds the request of the change with this number. */
  readonly ask: (number: number) => { readonly path: string; readonly call?: Call };
  readonly change?: (number: number, reply: Reply) => Change;
}

/** The mix of requests, repeated in this order: two reads to one change. */
const mix = ["account", "title", "images", "name", "graph", "upload", "config", "webhook", "endpoints", "mutation"];

/** Sends mixed requests at even intervals to one address, each on time regardless of earlier ones. */
export async function startTraffic(baseUrl: string, administratorKey: string, perSecond: number): Promise<Traffic> {
  const people = await openPeople(baseUrl, administratorKey);
  const result = { asked: 0, changes: [] as Change[], failures: [] as Failure[] };
  const answers: Promise<void>[] = [];
  const stopped = new AbortController();
  const send = async (number: number) => {
    const kind = people.kinds.get(mix[number % mix.length] ?? "") as Kind;
    const id = `rolling-${number}`;
    const { path, call = {} } = kind.ask(number);
    const http = people.callers[number % people.callers.length] as Http;
    const headers = { ...call.headers, "x-request-id": id };
    const reply = await http(path, { ...call, headers, timeoutMs: 30_000 });
    const answer = failureIn(reply);
    if (answer !== null) result.failures.push({ id, name: kind.name, answer });
    else if (kind.change && reply) result.changes.push(kind.change(number, reply));
  };
  const asking = (async () => {
    const startedMs = performance.now();
    while (!stopped.signal.aborted) {
      const dueMs = startedMs + (result.asked * 1000) / perSecond;
      if (dueMs <= performance.now()) answers.push(send(result.asked++));
      else await sleep(Math.max(0, dueMs - performance.now()));
    }
  })();
  return {
    async end() {
      stopped.abort();
      await asking;
      await Promise.all(answers);
      return result;
    },
  };
}

/** Returns a caller's complaint about an answer, such as a missing field of the graph; null when there is none. */
function failureIn(reply: Reply | null): string | null {
  if (reply === null) return "no answer";
  if (reply.status >= 300) return `${reply.status} ${reply.bytes}`;
  return reply.json?.errors === undefined ? null : JSON.stringify(reply.json.errors);
}

/** Creates several credentials of one account, a partner, an endpoint and an image to rename. */
async function openPeople(baseUrl: string, administratorKey: string) {
  const administrator = createHttp(baseUrl, administratorKey);
  const must = async (path: string, call?: Call) => {
    const reply = await administrator(path, call);
    const failure = failureIn(reply);
    if (reply === null || failure !== null) throw new Error(`${path}: ${failure}`);
    return reply.json;
  };
  const scopes = ["account", "images", "webhooks"].flatMap((area) => [`${area}:read`, `${area}:write`]);
  const keys: string[] = [];
  for (let count = 0; count < 4; count++) {
    const body = { name: `rolling ${count}`, scopes: [...scopes, "config:read"] };
    keys.push((await must("/api/account/api-keys/", { body })).key);
  }
  const secret = createHash("sha256").update(administratorKey).digest().subarray(0, 24);
  const partner = { name: "Partner", scheme: "standard-webhooks", secret: `whsec_${secret.toString("base64")}` };
  const source: string = (await must("/api/v1/webhooks/sources", { body: partner })).id;
  const random = createRandom(administratorKey);
  const formWith = (title: string) =>
    formOf({ title }, { name: "a.png", type: "image/png", bytes: pictureOf(random).bytes });
  const image: string = (await must("/images", formWith("first"))).id;
  const kinds = kindsOf({ image, source, secret, formWith });
  return { kinds, callers: keys.map((key) => createHttp(baseUrl, key)) };
}

interface Given {
  readonly image: string;
  readonly source: string;
  readonly secret: Buffer;
  readonly formWith: (title: string) => Call;
}

const query = "{ viewer { displayName images { edges { node { id } } } webhookEndpoints { edges { node { id } } } } }";
const mutation =
  "mutation ($name: String!) { updateAccount(input: { displayName: $name }) { account { displayName } } }";

function kindsOf({ image, source, secret, formWith }: Given): ReadonlyMap<string, Kind> {
  const read = (name: string, path: string): Kind => ({ name, ask: () => ({ path }) });
  const rename: Kind["ask"] = (number) => ({
    path: `/images/${image}`,
    call: { method: "PATCH", body: { title: `title ${number}` } },
  });
  const kinds: Kind[] = [
    read("account", "/api/account/"),
    read("images", "/images"),
    read("config", "/api/v1/config"),
    read("endpoints", "/api/v1/webhooks/endpoints"),
    { name: "graph", ask: () => ({ path: "/graphql", call: { body: { query } } }) },
    { name: "title", ask: rename, change: (number) => `image.updated ${image} title ${number}` },
    {
      name: "name",
      ask: (number) => ({
        path: "/api/account/",
        call: { method: "PATCH", body: { display_name: `name ${number}` } },
      }),
      change: (number) => `account.updated name ${number}`,
    },
    {
      name: "upload",
      ask: (number) => ({ path: "/images", call: formWith(`upload ${number}`) }),
      change: (number, { json }) => `image.created ${json.id} upload ${number}`,
    },
    {
      name: "webhook",
      ask: (number) => ({ path: `/ingest/${source}`, call: signed(`delivery-${number}`, secret) }),
      change: (number) => `webhook.received ${source} delivery-${number}`,
    },
    {
      name: "mutation",
      ask: (number) => ({
        path: "/graphql",
        call: { body: { query: mutation, variables: { name: `name ${number}` } } },
      }),
      change: (number) => `account.updated name ${number}`,
    },
  ];
  return new Map(kinds.map((kind) => [kind.name, kind]));
}

/** The change behind a record, in the terms of the traffic. */
const changeOf: Readonly<Record<string, (record: LogRecord) => Change>> = {
  "image.updated": ({ key, data }) => `image.updated ${key} ${data.title}`,
  "image.created": ({ key, data }) => `image.created ${key} ${data.title}`,
  "account.updated": ({ data }) => `account.updated ${data.display_name}`,
  "webhook.received": ({ key, data }) => `webhook.received ${key} ${data.delivery_id}`,
};

/** Finds acknowledged changes with no event, or with more than one. */
export function wrongEvents(changes: readonly Change[], records: readonly LogRecord[]): string[] {
  const counts = new Map<Change, number>();
  for (const record of records) {
    const change = changeOf[record.type]?.(record);
    if (change !== undefined) counts.set(change, (counts.get(change) ?? 0) + 1);
  }
  const asked = new Set(changes);
  return [
    ...(asked.size < changes.length ? ["a change was made twice"] : []),
    ...changes.filter((change) => !counts.has(change)).map((change) => `${change} has no event`),
    ...[...counts].filter(([, count]) => count > 1).map(([change, count]) => `${change} has ${count} events`),
  ];
}

/** Adds to each failure the log lines of the edge and the services about it. */
export async function explained(failures: readonly Failure[], system: RollingSystem): Promise<string[]> {
  const access = (await readFile(join(system.edge.folder, "access.log"), "utf8")).split("\n");
  const lines = [...access, ...system.instances.flatMap(linesOf)];
  return failures.slice(0, 20).map(({ id, name, answer }) => {
    const about = lines.filter((line) => line.includes(`"${id}"`));
    return [`${name}: ${answer}`, ...about.slice(0, 6).map((line) => `  ${line.slice(0, 700)}`)].join("\n");
  });
}

const linesOf = ({ name, output }: Instance): string[] => output.split("\n").map((line) => `${name} ${line}`);

/** The last log line of an instance about a drain. */
export interface Drain {
  readonly in_hand: Readonly<Record<string, number>>;
  readonly parts_ms: Readonly<Record<string, number>>;
  readonly duration_ms: number;
}

export function drainOf({ output }: Instance): Drain | undefined {
  const line = output.split("\n").findLast((one) => one.includes('"Draining is complete"'));
  if (line === undefined) return undefined;
  const { in_hand, parts_ms, duration_ms } = JSON.parse(line) as Drain;
  return { in_hand, parts_ms, duration_ms };
}

/** Every instance, service by service. */
export const inOrder = ({ instances }: RollingSystem): Instance[] =>
  services.flatMap((service) => instances.filter(({ program }) => program.service === service));
