import { eventually } from "@signalbox/testing";
import type { Headers } from "../../audit/world.ts";
import type { ClientRequest } from "../../journey/client.ts";
import { type Attack, type Control, control } from "../runner/attack.ts";
import { httpAttack, type Judge, plantedAnswer, refusedAs, shown } from "../runner/http-attack.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import type { Group } from "./group.ts";

/** Messages of somebody else's pull endpoint, and leases that are held, guessed or over. */
export const leases: Group = {
  name: "leases",
  atOnce: 4,
  rows: async (scenes) => leaseRows(await scenes.trusting()),
};

const endpointsPath = "/api/v1/webhooks/endpoints";
const messagesOf = (endpoint: string) => `${endpointsPath}/${endpoint}/messages`;
const guessed = "wha_01kdzq7c9p4r6s8t0v2w5x7y1z";

/** A refusal that shows nothing of the victim's messages. */
export const givesNoMessage =
  (...codes: readonly string[]): Judge =>
  (answer) =>
    answer.bytes.includes("letter for the victim") ? shown(answer) : refusedAs(...codes)(answer);

/** A pull endpoint with messages. */
interface Post {
  readonly endpoint: string;
  readonly headers: Headers;
  take(): Promise<string>;
  /** Takes a message and lets its lease end. */
  expired(): Promise<string>;
}

async function openPost({ world, person }: TrustingScene): Promise<Post> {
  const { headers } = await person();
  const make = { type: "pull", event_types: ["letter.*"] };
  const endpoint = (await world.send(headers, endpointsPath, { body: make })).json.id;
  const letters = Array.from({ length: 20 }, () => ({
    type: "letter.sent",
    data: { text: "a letter for the victim" },
  }));
  await world.send(headers, "/api/v1/webhooks/events", { body: letters });
  const takeFor = (leaseSeconds: number) =>
    eventually(async () => {
      const path = `${messagesOf(endpoint)}?limit=1&lease_seconds=${leaseSeconds}&wait_seconds=1`;
      return ((await world.send(headers, path)).json.items[0]?.lease_id as string | undefined) ?? null;
    });
  const expired = async () => {
    const lease = await takeFor(1);
    await eventually(async () => {
      const { items } = (await world.send(headers, `/api/v1/webhooks/attempts?endpoint_id=${endpoint}`)).json;
      return items.some(({ id, error }: Record<string, unknown>) => id === lease && error === "lease-expired");
    });
    return lease;
  };
  return { endpoint, headers, take: () => takeFor(3_600), expired };
}

async function leaseRows(scene: TrustingScene): Promise<Attack[]> {
  const { send, world, person } = scene;
  const victim = await openPost(scene);
  const other = await openPost(scene);
  const key = async (...scopes: string[]) => ({
    "x-api-key": (await world.send(victim.headers, "/api/account/api-keys/", { body: { name: "narrow", scopes } })).json
      .key,
  });
  const over = await victim.expired();
  const [lease, reader, stranger] = [await victim.take(), await key("webhooks:read"), (await person()).headers];
  const ended = controlOf(scene, victim);
  const row = (what: string, path: string, request: ClientRequest, ...codes: string[]): Attack =>
    httpAttack({
      send,
      path,
      request,
      control: ended,
      what,
      must: "give and end no message",
      judge: givesNoMessage(...codes),
    });
  const ends = ["ack", "nack", "extend"] as const;
  const bodyOf = (how: (typeof ends)[number], id: string) => ({
    lease_ids: [id],
    ...(how === "extend" && { lease_seconds: 60 }),
  });
  return [
    ...ends.flatMap((how) => [
      row(
        `${how} by a stranger`,
        `${messagesOf(victim.endpoint)}/${how}`,
        { headers: stranger, body: bodyOf(how, lease) },
        "not_found",
      ),
      row(
        `${how} at the stranger's own endpoint`,
        `${messagesOf(other.endpoint)}/${how}`,
        { headers: other.headers, body: bodyOf(how, lease) },
        "not_found",
      ),
      row(
        `${how} of a guessed lease`,
        `${messagesOf(victim.endpoint)}/${how}`,
        { headers: victim.headers, body: bodyOf(how, guessed) },
        "not_found",
      ),
      row(
        `${how} of a lease that has ended`,
        `${messagesOf(victim.endpoint)}/${how}`,
        { headers: victim.headers, body: bodyOf(how, over) },
        "conflict",
      ),
      row(
        `${how} by a stranger of a lease that has ended`,
        `${messagesOf(victim.endpoint)}/${how}`,
        { headers: stranger, body: bodyOf(how, over) },
        "not_found",
      ),
      row(
        `${how} with rights to read`,
        `${messagesOf(victim.endpoint)}/${how}`,
        { headers: reader, body: bodyOf(how, lease) },
        "forbidden",
      ),
      row(`${how} of nobody`, `${messagesOf(victim.endpoint)}/${how}`, { body: bodyOf(how, lease) }, "unauthorized"),
    ]),
    row("poll by a stranger", messagesOf(victim.endpoint), { headers: stranger }, "not_found"),
    row(
      "stream by a stranger",
      messagesOf(victim.endpoint),
      { headers: { ...stranger, accept: "text/event-stream" } },
      "not_found",
    ),
    row("poll with rights to read", messagesOf(victim.endpoint), { headers: reader }, "forbidden"),
    row("poll of nobody", messagesOf(victim.endpoint), {}, "unauthorized"),
    row(
      "consumer of a stranger",
      `${endpointsPath}/${victim.endpoint}/consumers/mine`,
      { method: "PUT", headers: stranger, body: {} },
      "not_found",
    ),
    ...consumerForms(victim.endpoint).map((path) =>
      row(
        `a consumer's row at ${path}`,
        path,
        { headers: victim.headers },
        "not_found",
        "invalid_request",
        "validation_error",
      ),
    ),
  ];
}

/** Paths that name the row of a consumer, or try to leave the endpoint. */
const consumerForms = (endpoint: string): string[] => [
  `${endpointsPath}/${endpoint}:billing`,
  `${messagesOf(`${endpoint}:billing`)}`,
  `${messagesOf(endpoint)}?consumer=billing`,
  `${messagesOf(endpoint)}?consumer=%3Abilling`,
  `${messagesOf(endpoint)}?consumer=..%2F..`,
];

/** The victim ends a lease of its own, so that a refusal says something. */
const controlOf = ({ send }: TrustingScene, victim: Post): Control =>
  control({
    what: "an acknowledgement by the owner",
    attempt: async () =>
      send(`${messagesOf(victim.endpoint)}/ack`, {
        headers: victim.headers,
        body: { lease_ids: [await victim.take()] },
      }),
    judge: (answer) => (answer.status === 200 && answer.json.items[0].repeated === false ? null : shown(answer)),
    planted: [plantedAnswer(404), plantedAnswer(500), plantedAnswer(200, { items: [{ repeated: true }] })],
  });
