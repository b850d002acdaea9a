import assert from "node:assert/strict";
import type { Headers } from "../../audit/world.ts";
import { type Attack, attack, type Control, control } from "../runner/attack.ts";
import { httpAttack, refusedAs, shown } from "../runner/http-attack.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import type { Group } from "./group.ts";
import { mutationsOf } from "./signature-mutations.ts";
import { honestSigning, type PartnerScheme, partnerSchemes, type SignedRequest, signed } from "./signed-requests.ts";

/** Webhooks that no partner has sent. */
export const ingestSignatures: Group = {
  name: "ingest-signatures",
  atOnce: 8,
  async rows(scenes) {
    const scene = await scenes.trusting();
    const tables = await Promise.all(
      partnerSchemes.map(async (scheme) => rowsOf(scene, (await scene.person()).headers, scheme)),
    );
    return tables.flat();
  },
};

export interface Source {
  readonly id: string;
  readonly path: string;
  readonly secret: string;
}

/** Creates a source for a partner with its own secret. */
export async function createSource(
  { world }: TrustingScene,
  owner: Headers,
  scheme: Pick<PartnerScheme, "name" | "source" | "newSecret">,
): Promise<Source> {
  const secret = scheme.newSecret();
  const { id, ingest_path: path } = (
    await world.send(owner, "/api/v1/webhooks/sources", {
      body: { name: scheme.name, secret, ...scheme.source },
    })
  ).json;
  return { id, path, secret };
}

async function rowsOf(scene: TrustingScene, owner: Headers, scheme: PartnerScheme): Promise<Attack[]> {
  const source = await createSource(scene, owner, scheme);
  const { send } = scene;
  const honest = () => signed(scheme, honestSigning(source.secret));
  const onlyHonest = onlyOneReceived(scene, owner, { name: scheme.name, source, honest });
  const rows = [...mutationsOf(scheme, source.secret)].map(([what, { headers, body }]) =>
    httpAttack({
      send,
      path: source.path,
      request: { headers, body },
      what: `${scheme.name}: ${what}`,
      must: "be refused with 401, and leave nothing",
      judge: refusedAs("unauthorized"),
      control: onlyHonest,
    }),
  );
  const replayed: Attack[] = [];
  // One after another: creations of one account wait for its lock, and on a busy machine the last would wait too long.
  for (const replay of replaysOf(scheme)) {
    const source = await createSource(scene, owner, scheme);
    const captured = signed(scheme, honestSigning(source.secret));
    replayed.push(replayRow(scene, owner, { name: scheme.name, source, captured, replay }));
  }
  return [...rows, ...replayed];
}

/** Lists the webhooks that a source has received, as its owner. */
async function receivedAt({ world }: TrustingScene, owner: Headers, { id }: Source): Promise<number> {
  return (await world.send(owner, `/api/v1/webhooks/sources/${id}/received`)).json.items.length;
}

interface Received {
  readonly statuses: readonly number[];
  readonly count: number;
}

interface Honest {
  readonly name: string;
  readonly source: Source;
  readonly honest: () => SignedRequest;
}

/** Checks that the honest request is accepted, and that the source has received nothing else. */
export function onlyOneReceived(scene: TrustingScene, owner: Headers, { name, source, honest }: Honest): Control {
  return control<Received>({
    what: `${name}: the honest request alone`,
    attempt: async () => {
      const { status } = await scene.send(source.path, honest());
      return { statuses: [status], count: await receivedAt(scene, owner, source) };
    },
    judge: ({ statuses, count }) =>
      statuses[0] === 202 && count === 1 ? null : `answered ${statuses[0]}, ${count} received`,
    planted: [
      { statuses: [404], count: 0 },
      { statuses: [202], count: 2 },
      { statuses: [202], count: 0 },
    ],
  });
}

interface Replay {
  readonly what: string;
  readonly change: (request: SignedRequest) => SignedRequest;
}

const withHeaders = (what: string, headers: Readonly<Record<string, string>>): Replay => ({
  what,
  change: (request) => ({ ...request, headers: { ...request.headers, ...headers } }),
});

const without = (what: string, header: string): Replay => ({
  what,
  change: ({ headers: { [header]: _, ...headers }, body }) => ({ headers, body }),
});

/** Replays of a captured request. Unsigned parts can be changed by the attacker. */
function replaysOf({ typeHeader, idHeader, signsId }: PartnerScheme): readonly Replay[] {
  const otherType = typeHeader === null ? {} : { [typeHeader]: "another.type" };
  return [
    withHeaders("as it was", {}),
    withHeaders("with a charset", { "content-type": "application/json; charset=utf-8" }),
    withHeaders("from another agent", { "user-agent": "another", "x-forwarded-for": "203.0.113.7" }),
    withHeaders("with headers of its own", {
      "x-delivery": "another",
      "webhook-delivery": "another",
      "idempotency-key": "another",
    }),
    ...(typeHeader === null ? [] : [withHeaders("as another type", otherType)]),
    ...(idHeader === null || signsId
      ? []
      : [
          withHeaders("under another id", { [idHeader]: "another" }),
          withHeaders("under another id and as another type", { [idHeader]: "another", ...otherType }),
          without("without its id", idHeader),
        ]),
  ];
}

interface Captured {
  readonly name: string;
  readonly source: Source;
  readonly captured: SignedRequest;
  readonly replay: Replay;
}

/** One honest delivery, captured and replayed: it has one effect. */
export function replayRow(
  scene: TrustingScene,
  owner: Headers,
  { name, source, captured, replay: { what, change } }: Captured,
): Attack {
  const first = control<number>({
    what: `${name}: the request that is captured (${what})`,
    attempt: async () => receivedAt(scene, owner, source),
    judge: (count) => (count >= 1 ? null : "nothing was received"),
    planted: [0],
  });
  return attack<Received>({
    what: `${name}: a captured request ${what}`,
    must: "have no second effect",
    repeat: `send ${JSON.stringify(captured.headers)} and ${captured.body} twice, the second time ${what}`,
    control: first,
    attempt: async () => {
      const honest = await scene.send(source.path, captured);
      assert.equal(honest.status, 202, shown(honest));
      const again = [await scene.send(source.path, change(captured)), await scene.send(source.path, change(captured))];
      return { statuses: again.map(({ status }) => status), count: await receivedAt(scene, owner, source) };
    },
    judge: ({ statuses, count }) => {
      if (statuses.some((status) => status >= 500)) return `answered ${statuses.join(" and ")}`;
      return count === 1 ? null : `${count} deliveries were received`;
    },
    planted: [
      { statuses: [202, 202], count: 2 },
      { statuses: [500, 202], count: 1 },
    ],
  });
}
