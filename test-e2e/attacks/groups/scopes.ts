import { scopes as allScopes, privilegedScopes, type Scope } from "@signalbox/contracts";
import type { Headers } from "../../audit/world.ts";
import type { Attack, Control } from "../runner/attack.ts";
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
import { callsOf, type Operation, operationsOf } from "./operations.ts";

/** Every operation that needs a scope, a role or a recent sign-in, tried without it by its own owner. */
export const scopes: Group = {
  name: "scopes",
  atOnce: 8,
  async rows(scenes) {
    const scene = await scenes.trusting();
    const { operations } = await operationsOf(scene);
    const closed = operations.filter(({ isOpen }) => !isOpen);
    const given = { scene, credentials: await singleScopeKeys(scene), climber: (await scene.person()).headers };
    return [...closed.flatMap((operation) => rowsOf(operation, given)), ...endpointsOfAll(given)];
  },
};

interface Given {
  readonly scene: TrustingScene;
  /** Keys of the administrator, by scope. */
  readonly credentials: ReadonlyMap<string, Headers>;
  /** A person who tries to gain an administrator's rights. */
  readonly climber: Headers;
}

function rowsOf(operation: Operation, given: Given): Attack[] {
  const { name, attempt } = operation;
  const { as, control } = callsOf(operation, given.scene);
  return [
    ...withOtherScopes(operation, given).map(([what, headers]) =>
      httpAttack({
        ...as(headers),
        what: `${name} with ${what}`,
        must: "be forbidden",
        judge: refusedAs("forbidden"),
        control,
      }),
    ),
    ...(given.scene.administrator === attempt.by ? asClimber(given, name, as, control) : []),
    ...withoutRecentSignIn(operation, given.scene, as, control),
  ];
}

/** Credentials of the owner with one scope each, none of which is enough. */
function withOtherScopes(
  { scopes: needed, attempt, name }: Operation,
  { scene, credentials }: Given,
): [string, Headers][] {
  if (needed.length === 0) return [];
  // Without access to the parent of a field the refusal would have that reason alone.
  const besides: readonly Scope[] = name.startsWith("Account.") ? ["account:read"] : [];
  return allScopes
    .map((scope) => [...new Set([...besides, scope])])
    .filter((held) => !needed.every((scope) => held.includes(scope)))
    .map((held) => {
      const named = held.join(" ");
      if (attempt.by === scene.administrator) return [`a key for ${named}`, credentials.get(named) ?? {}];
      return [`a token for ${named}`, { authorization: `Bearer ${scene.tokenOf(attempt.by, { scope: named })}` }];
    });
}

async function singleScopeKeys({ world, administrator }: TrustingScene): Promise<ReadonlyMap<string, Headers>> {
  const sets = allScopes.flatMap((scope) => [[scope], [...new Set(["account:read" as Scope, scope])]]);
  const keys = new Map<string, Headers>();
  for (const set of sets) {
    const body = { name: "narrow", scopes: set };
    const { key } = (await world.send(administrator, "/api/account/api-keys/", { body })).json;
    keys.set(set.join(" "), { "x-api-key": key });
  }
  return keys;
}

/** Claims that sound like more than an owner, but are not mapped to a role. */
const climbs: Readonly<Record<string, object>> = {
  "a scope that only roles bring": { scope: [...privilegedScopes].join(" ") },
  "all scopes in scope": { scope: allScopes.join(" ") },
  "all scopes in scp": { scp: allScopes },
  "all scopes in permissions": { permissions: allScopes },
  "the role Admin": { roles: ["Admin"] },
  "the role administrator": { roles: ["administrator"] },
  "the role with a space": { roles: ["admin owner"].map((role) => ` ${role.split(" ")[0]}\u00a0`) },
  "the role as a member": { roles: [{ admin: true }] },
  "the role constructor": { roles: ["constructor", "__proto__", "toString"] },
  "a role of another claim": { role: "admin", groups: ["admin"], realm_access: { roles: ["admin"] } },
  "a role in the scope": { scope: "admin operator" },
  "the scope of everything": { scope: "* account:* account:read account:ADMIN" },
};

type As = (headers: Headers) => Pick<Parameters<typeof httpAttack>[0], "send" | "path" | "request">;

/** Operations of administrators and operators, tried by an owner whose token claims the right. */
function asClimber({ scene, climber }: Given, name: string, as: As, control: Control): Attack[] {
  return Object.entries(climbs).map(([what, claims]) =>
    httpAttack({
      ...as({ authorization: `Bearer ${scene.tokenOf(climber, claims)}` }),
      what: `${name} by an owner whose token has ${what}`,
      must: "be forbidden",
      judge: refusedAs("forbidden"),
      control,
    }),
  );
}

/** An endpoint for the events of all accounts: the right depends on a member of its body, so it is not declared. */
function endpointsOfAll(given: Given): Attack[] {
  const { send, administrator } = given.scene;
  const name = "POST /api/v1/webhooks/endpoints for all accounts";
  const body = { url: "https://hooks.example.org/all", event_types: ["account.updated"], scope: "all" };
  const as = (headers: Headers) => ({ send, path: "/api/v1/webhooks/endpoints", request: { body, headers } });
  const control = httpControl({ ...as(administrator), what: `${name} by an administrator`, judge: succeeds });
  return asClimber(given, name, as, control);
}

/** Changes by the recipes, among operations that need a recent sign-in for some changes only. */
const guarded = ["another name", "another URL", "another secret", "other roles"];
const minute = 60;

/** Claims that do not prove a recent sign-in. */
const signIns: Readonly<Record<string, () => object>> = {
  "no sign-in": () => ({ auth_time: undefined }),
  "a sign-in sixteen minutes ago": () => ({ auth_time: Math.floor(Date.now() / 1000) - 16 * minute }),
  "a sign-in in an hour": () => ({ auth_time: Math.floor(Date.now() / 1000) + 60 * minute }),
  "a sign-in that is a text": () => ({ auth_time: String(Math.floor(Date.now() / 1000)) }),
  "a sign-in that is true": () => ({ auth_time: true }),
  "a sign-in in the year 275760": () => ({ auth_time: 8.64e12 }),
};

const stepUpAsked: Judge = (answer) => {
  const isAsked = JSON.stringify(answer.json ?? {}).includes("step_up_required");
  return isAsked && refusedAs("forbidden")(answer) === null ? null : shown(answer);
};

function withoutRecentSignIn(
  { name, attempt, stepUp }: Operation,
  scene: TrustingScene,
  as: As,
  control: Control,
): Attack[] {
  const isGuarded = stepUp === true || (typeof stepUp === "string" && guarded.includes(stepUp));
  if (!isGuarded || attempt.by === scene.administrator) return [];
  return Object.entries(signIns).map(([what, claims]) =>
    httpAttack({
      ...as({ authorization: `Bearer ${scene.tokenOf(attempt.by, claims())}` }),
      what: `${name} with ${what}`,
      must: "ask for a recent sign-in",
      judge: stepUpAsked,
      planted: [...weakAnswers, plantedAnswer(403, { error: { code: "forbidden" } })],
      control,
    }),
  );
}
