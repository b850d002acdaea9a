import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { eventually } from "@signalbox/testing";
import { operatingRecipes } from "../../audit/recipes/operating.ts";
import type { Attack } from "../runner/attack.ts";
import {
  httpAttack,
  httpControl,
  type Judge,
  plantedAnswer,
  refusedAs,
  shown,
  succeeds,
  weakAnswers,
} from "../runner/http-attack.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import type { Group } from "./group.ts";
import { type Owner, ownerOfEverything } from "./owned-things.ts";

/**
 * Every id that an owner can ask why about, asked by others; ids of messages that lead elsewhere; and actions on messages
 * as an operator has not seen them.
 */
export const why: Group = {
  name: "why and operations",
  atOnce: 8,
  async rows(scenes) {
    const scene = await scenes.trusting();
    return [...(await ofOthers(scene)), ...(await elsewhere(scene)), ...(await unseen(scene))];
  },
};

/** The things whose chain is there as soon as they are. */
const asked = ["key", "image", "deletion", "source", "delivery", "received", "rejection", "replay"] as const;

/** The ids of an owner by their kinds: those of things, and those that only chains, lists and headers show. */
async function idsOf({ send, world }: TrustingScene, { headers, things }: Owner): Promise<Record<string, string>> {
  const read = async (path: string) => (await world.send(headers, path)).json;
  const event = (await read(`/api/v1/webhooks/deliveries/${things.delivery}`)).event_id as string;
  const attempt = await eventually(async () => {
    const { items } = await read(`/api/v1/webhooks/attempts?delivery_id=${things.delivery}`);
    return (items[0]?.id as string | undefined) ?? null;
  });
  const { items: steps } = await read(`/api/v1/why/${things.image}`);
  const job = (steps as readonly { id: string | null }[]).find(({ id }) => id?.startsWith("job_"))?.id ?? "";
  const trace = randomBytes(16).toString("hex");
  const traced = { ...headers, traceparent: `00-${trace}-${randomBytes(8).toString("hex")}-00` };
  const published = await send("/api/v1/webhooks/events", {
    headers: traced,
    body: { id: `event-of-${trace}`, type: "order.created", data: {} },
  });
  const refused = await send("/images/img_01kdzq7c9p4r6s8t0v2w5x7y1z", { headers });
  const from = "2026-01-01T00:00:00Z";
  const replay = (
    await world.send(headers, "/api/v1/webhooks/replays", { body: { endpoint_id: things.endpoint, from } })
  ).json.id as string;
  assert.equal(published.status, 202);
  return {
    ...Object.fromEntries(asked.map((thing) => [thing, things[thing]])),
    event,
    attempt,
    "render job": job,
    trace,
    "published event": `event-of-${trace}`,
    "replay of deliveries": replay,
    "refused request": refused.headers.get("x-request-id") ?? "",
  };
}

async function ofOthers(scene: TrustingScene): Promise<Attack[]> {
  const { send, person, tokenOf } = scene;
  const owner = await ownerOfEverything(scene);
  const stranger = await person();
  const narrow = { authorization: `Bearer ${tokenOf(owner.headers, { scope: "env:read" })}` };
  const askers = {
    "a stranger": stranger.headers,
    "an administrator": scene.administrator,
    "a token without scopes": narrow,
  };
  const chain = plantedAnswer(200, { items: [{ what: "The image was stored.", id: owner.things.image }] });
  return Object.entries(await idsOf(scene, owner)).flatMap(([kind, id]) => {
    const path = `/api/v1/why/${encodeURIComponent(id)}`;
    const control = httpControl({
      // The refused request is told once it was written down.
      send: async (...asking) =>
        eventually(async () => {
          const answer = await send(...asking);
          return answer.status === 200 && answer;
        }),
      path,
      request: { headers: owner.headers },
      what: `why of a ${kind} by its owner`,
      judge: succeeds,
    });
    // A refused call is told to whom it was refused, whatever the scopes.
    const others = Object.entries(askers).filter(([who]) => kind !== "refused request" || !who.startsWith("a token"));
    const missing = {
      send,
      must: "read as missing",
      judge: refusedAs("not_found"),
      planted: [...weakAnswers, chain],
      control,
    };
    return [
      ...others.map(([who, headers]) =>
        httpAttack({
          ...missing,
          ...(who === "an administrator" &&
            kind === "event" && { must: "tell nothing of the owner", judge: tellsNothingOf(owner) }),
          path,
          request: { headers },
          what: `why of a ${kind} by ${who}`,
        }),
      ),
      httpAttack({
        ...missing,
        path: "/graphql",
        request: { headers: stranger.headers, body: { query: `{ why(id: ${JSON.stringify(id)}) { what } }` } },
        what: `why of a ${kind} by a stranger in the graph`,
        must: "have no steps",
        judge: hasNoSteps,
        planted: [plantedAnswer(200, { data: { why: [{ what: "The image was stored." }] } }), ...weakAnswers],
      }),
      // The marks by which services link parts of a chain.
      ...["!", ">"].map((mark) =>
        httpAttack({
          ...missing,
          path: `/api/v1/why/${encodeURIComponent(mark + id)}`,
          request: { headers: stranger.headers },
          what: `why of a link ${mark} to a ${kind} by a stranger`,
        }),
      ),
    ];
  });
}

/**
 * Finds what belongs to the owner. An administrator's endpoint for all accounts, which another group leaves behind, may
 * have got the event: then the chain of its own delivery is told, and the event is named as a hole.
 */
const tellsNothingOf =
  ({ things }: Owner): Judge =>
  (answer) => {
    if (answer.status === 404) return refusedAs("not_found")(answer);
    const text = JSON.stringify(answer.json ?? null);
    const isHole = answer.status === 200 && text.includes('"in another account"');
    return isHole && !Object.values(things).some((id) => text.includes(`"${id}"`)) ? null : shown(answer);
  };

/** Finds steps, or an answer that is none, in the graph's answer about an id. */
export const hasNoSteps: Judge = (answer) =>
  answer.status === 200 && answer.json?.errors === undefined && answer.json?.data?.why?.length === 0
    ? null
    : shown(answer);

/** Ids that would reach another route of an internal listener, or another service, if they were not taken as text. */
const strayIds = [
  "../../principals",
  "images.facts/../../../graphql",
  "images.facts:../outbox",
  "account.audit?service=images",
  "gateway.any:1",
  "nobody:1",
  "images",
  "images.facts:\u0000",
  "%2e%2e%2finternal",
];

async function elsewhere({ send, administrator: headers }: TrustingScene): Promise<Attack[]> {
  const base = "/api/v1/operations";
  const control = httpControl({
    send,
    path: `${base}/groups`,
    request: { headers },
    what: "the groups by an administrator",
    judge: succeeds,
  });
  const seen = { ...headers, "if-match": '"seen"' };
  return ["dead-letters", "dead-events", "parked"].flatMap((collection) =>
    strayIds.map((id) =>
      httpAttack({
        send,
        path: `${base}/${collection}/${encodeURIComponent(id)}/${collection === "parked" ? "retry" : "replay"}`,
        request: { headers: seen, body: {} },
        what: `an action on ${collection} with the id ${JSON.stringify(id)}`,
        must: "find nothing",
        judge: refusedAs("not_found", "invalid_request"),
        control,
      }),
    ),
  );
}

/** Versions other than the one that an operator has read. */
const unseenVersions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "no version": {},
  "a guessed version": { "if-match": '"1"' },
  "any version": { "if-match": "*" },
  "a weak version": { "if-match": 'W/"1"' },
  "a list of versions": { "if-match": '"1", "2", "3"' },
  "an empty version": { "if-match": '""' },
};

/** Actions on stuck messages without their version; the control acts on the message, which must still be there. */
async function unseen(scene: TrustingScene): Promise<Attack[]> {
  const { send, world } = scene;
  const actions = Object.entries(operatingRecipes).filter(([name]) => name.startsWith("POST "));
  const rows: Attack[] = [];
  for (const [name, recipe] of actions) {
    const { by, path, request } = await recipe(world);
    const control = httpControl({
      send,
      path,
      request: { ...request, headers: { ...by, ...request.headers } },
      what: `${name} with the version that was read`,
      judge: succeeds,
    });
    for (const [what, version] of Object.entries(unseenVersions)) {
      rows.push(
        httpAttack({
          send,
          path,
          request: { ...request, headers: { ...by, ...version } },
          what: `${name} with ${what}`,
          must: "leave the message as it is",
          judge: refusedAs("conflict", "invalid_request"),
          control,
        }),
      );
    }
  }
  return rows;
}
