import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { History } from "./history.ts";
import { type Call, createHttp, formOf, type Http, type Reply } from "./http.ts";
import { pictureOf, type Random } from "./random.ts";
import type { LedgerSystem } from "./systems/ledger-system.ts";
import type { LedgerReceiver } from "./witnesses/receiver.ts";

/** Declared by each account. Data that violates its schema is refused. */
export const publishedType = {
  name: "ledger.counted",
  schema: { type: "object", required: ["number"], properties: { number: { type: "integer" } } },
  enforcement: "block",
} as const;

/** A person with an account, a partner who posts to it, and endpoints. `second` is a named consumer of `pulled`. */
export interface Member {
  readonly account: string;
  readonly http: Http;
  /** The API key of `http`. */
  readonly key: string;
  /** A recent sign-in, which some changes need. */
  readonly owner: Http;
  readonly source: { readonly id: string; readonly secret: Buffer };
  /** Names of the endpoints at the receiver, with their ids in the product. */
  readonly endpoints: Readonly<Record<keyof typeof wantedTypes, { readonly name: string; readonly id: string }>>;
  /** Images whose titles are numbered. */
  readonly images: readonly string[];
}

/** The shared state of a round's writers. */
export interface Scene {
  /** Unique among all rounds of all runs. */
  readonly round: string;
  readonly system: LedgerSystem;
  readonly history: History;
  readonly random: Random;
  readonly members: readonly Member[];
  readonly administrator: Http;
  /** Aborts when writers must stop; started operations are repeated until they are answered. */
  readonly stopped: AbortSignal;
}

/** One kind of caller, which repeats its operations. */
export interface Writer {
  readonly name: string;
  run(scene: Scene): Promise<void>;
}

export const wantedTypes = {
  main: ["image.*", "webhook.received", publishedType.name],
  paused: ["image.updated"],
  deleted: ["image.updated"],
  pulled: ["image.updated", publishedType.name],
  second: ["image.updated", publishedType.name],
} as const;

const memberCount = 3;
const imagesEach = 2;
const scopes = ["account", "images", "webhooks"].flatMap((area) => [`${area}:read`, `${area}:write`]);

export interface Surroundings {
  readonly system: LedgerSystem;
  readonly history: History;
  readonly receiver: LedgerReceiver;
  readonly random: Random;
  readonly round: string;
  readonly stopped: AbortSignal;
  /** Signs a token of a new person who has just signed in. */
  readonly newToken: () => string;
}

/** Creates three accounts for this round. */
export async function openScene(given: Surroundings): Promise<Scene> {
  const { system, history, random, round, stopped } = given;
  const members = await Promise.all(Array.from({ length: memberCount }, (_, index) => openMember(given, index)));
  const administrator = createHttp(system.baseUrl, system.administratorKey);
  return { round, system, history, random, members, administrator, stopped };
}

async function openMember(given: Surroundings, index: number): Promise<Member> {
  const { system, round, receiver, random } = given;
  const newcomer = createHttp(system.baseUrl);
  const headers = { authorization: `Bearer ${given.newToken()}` };
  const owner: Http = (path, call = {}) => newcomer(path, { ...call, headers: { ...call.headers, ...headers } });
  const account = (await must(owner, "/api/account/", {})).json.id;
  const named = { name: "ledger", scopes: [...scopes, "account:security", "events:publish"] };
  const made = await must(owner, "/api/account/api-keys/", { body: named });
  const http = createHttp(system.baseUrl, made.json.key);

  const secret = createHash("sha256").update(`${round}/${index}`).digest().subarray(0, 24);
  const partner = { name: "Partner", scheme: "standard-webhooks", secret: `whsec_${secret.toString("base64")}` };
  const source = (await must(http, "/api/v1/webhooks/sources", { body: partner })).json.id;
  await must(http, "/api/v1/webhooks/event-types", { body: publishedType });
  const path = "/api/v1/webhooks/endpoints";
  const retries = { retry_schedule_seconds: [0, ...Array<number>(19).fill(1)] };
  const endpoint = async (kind: keyof typeof wantedTypes) => {
    const name = `${round}-${index}-${kind}`;
    const target =
      kind === "pulled"
        ? { type: "pull", settings: { ...retries, ordered: true } }
        : { url: receiver.urlOf(name), settings: { ...retries, timeout_seconds: 2 } };
    const body = { ...target, event_types: wantedTypes[kind] };
    return { name, id: (await must(http, path, { body })).json.id as string };
  };
  const pulled = await endpoint("pulled");
  await must(http, `${path}/${pulled.id}/consumers/second`, { method: "PUT", body: {} });
  const endpoints = {
    pulled,
    second: { name: `${round}-${index}-second`, id: pulled.id },
    main: await endpoint("main"),
    paused: await endpoint("paused"),
    deleted: await endpoint("deleted"),
  };
  const images: string[] = [];
  for (let count = 0; count < imagesEach; count++) {
    const picture = pictureOf(random.fork(`first images/${index}/${count}`));
    const form = formOf({ title: "n-0" }, { name: "first.png", type: "image/png", bytes: picture.bytes });
    const done = given.history.begin("scene", "upload", { account, title: "n-0", sha256: picture.sha256, first: true });
    const { json } = await must(http, "/images", form);
    done("ok", { image: json.id });
    images.push(json.id);
  }
  return { account, http, key: made.json.key, owner, source: { id: source, secret }, endpoints, images };
}

/** Repeats a request of the preparation, before any fault, until it succeeds; a refusal is an error. */
async function must(http: Http, path: string, call: Call): Promise<Reply> {
  const giveUpAt = performance.now() + 60_000;
  const headers = { ...call.headers, "idempotency-key": randomUUID() };
  for (;;) {
    const reply = await http(path, { ...call, headers });
    if (reply && reply.status < 300) return reply;
    const isOver = performance.now() > giveUpAt || (reply !== null && reply.status < 500);
    if (isOver) throw new Error(`${path}: ${reply ? `${reply.status} ${reply.bytes}` : "no answer"}`);
    await sleep(200);
  }
}

/** Fourteen processes and three brokers share the writers' two cores. */
const pauseFactor = { embedded: 1, engines: 3 };

/**
 * Repeats a step with pauses until the scene ends. Shorter pauses would keep two cores busy, and recovery times would
 * measure the load of the machine.
 */
export async function untilStopped(
  { stopped, system }: Scene,
  random: Random,
  [shortestMs, longestMs]: readonly [number, number],
  step: () => Promise<void>,
): Promise<void> {
  while (!stopped.aborted) {
    await step();
    await sleep(random.between(shortestMs, longestMs) * pauseFactor[system.mode]);
  }
}

/** Time for repetitions after the end of the writing. */
const insistMs = 90_000;

/**
 * Repeats a request until there is a clear answer, as programs do that must not lose it. `null` when none came, although
 * all ran again: however long a fault lasts, the time begins when writers stop.
 */
export async function insist(
  { stopped }: Pick<Scene, "stopped">,
  send: () => Promise<Reply | null>,
): Promise<Reply | null> {
  let giveUpAt = Number.POSITIVE_INFINITY;
  for (;;) {
    const reply = await send();
    const isClear = reply !== null && reply.status < 500 && ![409, 425, 429].includes(reply.status);
    if (isClear || performance.now() > giveUpAt) return reply;
    if (stopped.aborted) giveUpAt = Math.min(giveUpAt, performance.now() + insistMs);
    await sleep(150);
  }
}
