import type { Attack } from "../runner/attack.ts";
import { httpAttack, httpControl, plantedAnswer, refusedAs, succeeds, weakAnswers } from "../runner/http-attack.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import type { Group } from "./group.ts";
import { ownerOfEverything } from "./owned-things.ts";

/** Every id that an owner can ask why about, asked by others; and ids of messages that lead elsewhere. */
export const why: Group = {
  name: "why and operations",
  atOnce: 8,
  async rows(scenes) {
    const scene = await scenes.trusting();
    return [...(await ofOthers(scene)), ...(await elsewhere(scene))];
  },
};

/** The things whose chain is there as soon as they are. */
const asked = ["key", "image", "deletion", "source", "delivery", "received", "rejection"] as const;

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
  return asked.flatMap((thing) => {
    const path = `/api/v1/why/${owner.things[thing]}`;
    const control = httpControl({
      send,
      path,
      request: { headers: owner.headers },
      what: `why of a ${thing} by its owner`,
      judge: succeeds,
    });
    return Object.entries(askers).map(([who, headers]) =>
      httpAttack({
        send,
        path,
        request: { headers },
        what: `why of a ${thing} by ${who}`,
        must: "read as missing",
        judge: refusedAs("not_found"),
        planted: [...weakAnswers, chain],
        control,
      }),
    );
  });
}

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
