import type { Headers } from "../../audit/world.ts";
import { expectStatus, photoForm } from "../../journey/client.ts";
import type { Attack } from "../runner/attack.ts";
import {
  codeOf,
  httpAttack,
  httpControl,
  type Judge,
  plantedAnswer,
  shown,
  weakAnswers,
} from "../runner/http-attack.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import type { Group } from "./group.ts";
import { callsOf, isRead, type Operation, operationsOf } from "./operations.ts";
import type { Owner } from "./owned-things.ts";

/** Every resource of an owner, requested by others. */
export const crossAccount: Group = {
  name: "cross-account",
  atOnce: 8,
  async rows(scenes) {
    const scene = await scenes.trusting();
    const { operations, owner } = await operationsOf(scene, (name) => !name.includes(" ") || name.includes("{"));
    const strangers = await strangersTo(scene, owner);
    const rows = operations
      .filter((operation) => operation.attempt.by !== scene.administrator && !operation.isOpen)
      .filter((operation) => operation.namesThing || isRead(operation))
      .flatMap((operation) => rowsOf(operation, { scene, owner, strangers }));
    return [...rows, ...(await bulkDeletes({ scene, owner, strangers }))];
  },
};

/** Lists of ids tell of each what became of it: those of others are missing, as if there were none, and stay. */
async function bulkDeletes({ scene: { send, world }, owner, strangers }: Given): Promise<Attack[]> {
  const spare = expectStatus(await world.send(owner.headers, "/images", { body: photoForm(world.photo) }), 201).json.id;
  const path = "/images/delete";
  const { image } = owner.things;
  const told = (id: string, outcome: string) => ({ items: [{ id, outcome }] });
  const control = httpControl({
    send,
    path,
    request: { headers: owner.headers, body: { ids: [spare] } },
    what: "delete several images by their owner",
    judge: (answer) => (answer.json?.items?.[0]?.outcome === "deleted" ? null : shown(answer)),
    planted: [plantedAnswer(200, told(spare, "missing"))],
  });
  return Object.entries(strangers).map(([who, headers]) =>
    httpAttack({
      send: async (...asked) => {
        const answer = await send(...asked);
        // An answer that says nothing happened proves nothing: the image has to be there.
        const kept = await send(`/images/${image}`, { headers: owner.headers });
        return kept.status === 200 ? answer : kept;
      },
      path,
      request: { headers, body: { ids: [image] } },
      what: `delete several images by ${who}`,
      must: "tell that the image is missing, or refuse, and keep it",
      judge: (answer) => {
        const isMissing = answer.status === 200 && answer.json?.items?.[0]?.outcome === "missing";
        return isMissing || ["forbidden", "unauthorized"].includes(codeOf(answer) ?? "") ? null : shown(answer);
      },
      planted: [...weakAnswers, plantedAnswer(200, told(image, "deleted")), plantedAnswer(404, {})],
      control,
    }),
  );
}

interface Given {
  readonly scene: TrustingScene;
  readonly owner: Owner;
  readonly strangers: Readonly<Record<string, Headers>>;
}

function rowsOf(operation: Operation, { scene, owner, strangers }: Given): Attack[] {
  const { name, attempt, namesThing } = operation;
  const { path } = attempt;
  const { as, control } = callsOf(operation, scene);
  const marks = marksOf(owner).filter((mark) => !path.includes(mark));
  const leak = plantedAnswer(200, { items: [{ id: owner.things.image }], contact_address: owner.address });
  return Object.entries(strangers).map(([who, headers]) =>
    httpAttack({
      ...as(headers),
      what: `${name} by ${who}`,
      must: namesThing ? "read as missing, or as refused" : "show nothing of the owner's",
      judge: namesThing ? missingTo(marks) : showsNothingOf(marks),
      planted: [...weakAnswers, leak],
      control,
    }),
  );
}

/** Texts that only the owner may see. */
export const marksOf = ({ address, name, things }: Owner): string[] => [address, name, ...Object.values(things)];

const refusals = ["not_found", "forbidden", "unauthorized", "unauthenticated"];

export function missingTo(marks: readonly string[]): Judge {
  return (answer) => {
    const payloads = Object.values<{ errors?: { code?: string; field?: string }[] } | null>(answer.json?.data ?? {});
    const isMissingThere =
      payloads.length > 0 && payloads.every((payload) => payload === null || (payload.errors ?? []).length > 0);
    const isRefused =
      refusals.includes(codeOf(answer) ?? "") && (answer.status >= 400 || answer.json.errors !== undefined);
    return isRefused || isMissingThere ? leaks(marks)(answer) : shown(answer);
  };
}

const leaks =
  (marks: readonly string[]): Judge =>
  (answer) => {
    const found = marks.find((mark) => answer.bytes.includes(mark));
    return found === undefined ? null : `shows ${found}: ${shown(answer)}`;
  };

export function showsNothingOf(marks: readonly string[]): Judge {
  return (answer) => {
    // A caller who owns no such resource gets none of its own; the empty answer of a weak system's lists counts as a
    // finding.
    if (answer.status >= 500 || answer.json?.id === "planted") return shown(answer);
    return leaks(marks)(answer);
  };
}

/** Callers who are not the owner, by their credentials. */
async function strangersTo({ person, tokenOf, send, administrator, world }: TrustingScene, owner: Owner) {
  const stranger = await person();
  const scopes = [
    "account:read",
    "account:write",
    "account:security",
    "images:read",
    "images:write",
    "webhooks:read",
    "webhooks:write",
  ];
  const made = async (headers: Headers) => {
    const { key } = expectStatus(
      await send("/api/account/api-keys/", { headers, body: { name: "stranger", scopes } }),
      201,
    ).json;
    return { "x-api-key": key as string };
  };
  const as = (claims: object): Headers => ({ authorization: `Bearer ${tokenOf(stranger.headers, claims)}` });
  const suspended = await person();
  const reason = { body: { status: "suspended", reason: "attacks" } };
  await world.send(administrator, `/api/accounts/${suspended.id}/status`, reason);
  const naming = {
    "x-account-id": owner.id,
    "x-user-id": owner.subject,
    "x-forwarded-user": owner.subject,
    "x-signalbox-account": owner.id,
  };
  return {
    "a stranger": stranger.headers,
    "a stranger's key": await made(stranger.headers),
    "a stranger who is viewer": as({ roles: ["viewer"] }),
    "a stranger who is operator": as({ roles: ["operator"] }),
    "a stranger who is administrator": as({ roles: ["admin"] }),
    "the key of the first administrator": administrator,
    "a suspended stranger": suspended.headers,
    "a stranger whose headers name the owner": { ...stranger.headers, ...naming },
    "a stranger whose token names the owner": as({
      account_id: owner.id,
      account: owner.id,
      act: { sub: owner.subject },
      may_act: { sub: owner.subject },
    }),
    "a stranger whose token has the owner's address": as({
      email: owner.address,
      email_verified: true,
      preferred_username: owner.address,
    }),
    "a stranger whose subject begins as the owner's": {
      authorization: `Bearer ${tokenOf(stranger.headers, { sub: `${owner.subject} ` })}`,
    },
    "a stranger whose subject is the owner's in capitals": {
      authorization: `Bearer ${tokenOf(stranger.headers, { sub: owner.subject.toUpperCase() })}`,
    },
    nobody: {},
  } satisfies Record<string, Headers>;
}
