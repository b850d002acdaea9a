import assert from "node:assert/strict";
import type { Attempt } from "../../audit/recipes/attempt.ts";
import { recipes } from "../../audit/recipes/recipes.ts";
import type { Headers } from "../../audit/world.ts";
import { httpControl, succeeds } from "../runner/http-attack.ts";
import { inLanes } from "../runner/run-attacks.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import { type DeclaredAccess, declaredAccess, fieldReads, isFieldRead } from "./declared-access.ts";
import { type Owner, ownerOfEverything, pathTo } from "./owned-things.ts";

/** An operation that its owner is ready to run, and would succeed with. */
export interface Operation extends DeclaredAccess {
  /** `PATCH /images/{image_id}`, `Mutation.updateImage`, `Account.images` */
  readonly name: string;
  readonly attempt: Attempt;
  /** True when the request names a resource of its owner. */
  readonly namesThing: boolean;
}

/** These need an earlier change and its revision; the audit walk makes its own, in its own order. */
const madeHere = ["Mutation.unsetProperty", "Mutation.rollback"];
/** Its answer is endless, and the other is for portal sessions alone. */
const unasked = ["GET /api/v1/config/stream", "GET /api/v1/webhooks/portal-sessions/current"];
/** Names a thing of the caller, and creates it where there is none. */
const namesOwn = "PUT /images/transformations/{name}";
/** All operations, and the owner of the resources that are read. */
export interface Operations {
  readonly operations: readonly Operation[];
  readonly owner: Owner;
}

/**
 * Prepares every operation of a system that trusts another issuer; each write has its own owner. Unwanted writes are
 * omitted.
 */
export async function operationsOf(
  scene: TrustingScene,
  isWanted: (write: string) => boolean = () => true,
): Promise<Operations> {
  const declared = await declaredAccess();
  const owner = await ownerOfEverything(scene);
  const attempts = new Map([...readsOf(owner, declared, scene), ...fieldsOf(owner, declared, scene)]);
  const writes = Object.entries(recipes).filter(
    ([name]) => !attempts.has(name) && !madeHere.includes(name) && isWanted(name),
  );
  await inLanes(writes, 8, async ([name, recipe]) => attempts.set(name, await recipe(scene.world)));
  const operations = [...attempts].map(([name, attempt]) => {
    const access = declared.get(name);
    assert.ok(access, `${name} is declared`);
    return { name, attempt, ...access, namesThing: namesThing(name, attempt) };
  });
  return { operations, owner };
}

/** Builds the requests of an operation by other callers, and the control that its owner would succeed. */
export function callsOf({ name, attempt: { by, path, request } }: Operation, { send }: TrustingScene) {
  const as = (headers: Headers) => ({
    send,
    path,
    request: { ...request, headers: { ...request.headers, ...headers } },
  });
  return { as, control: httpControl({ ...as(by), what: `${name} by its owner`, judge: succeeds }) };
}

export const isRead = ({ name }: Operation): boolean => !name.startsWith("Mutation.") && /^(GET |\w+\.)/.test(name);

type Declared = ReadonlyMap<string, DeclaredAccess>;

/** An operation for administrators is run by one: the owner's role is never enough. */
const whoMay = (owner: Owner, { administrator }: TrustingScene, { scopes }: DeclaredAccess) =>
  scopes.some((scope) => ["account:admin", "env:read", "config:admin", "operations:read"].includes(scope))
    ? administrator
    : owner.headers;

function readsOf(owner: Owner, declared: Declared, scene: TrustingScene): [string, Attempt][] {
  return [...declared].flatMap(([name, access]) => {
    const [method, template = ""] = name.split(" ");
    const path = pathTo(template, owner.things);
    if (method !== "GET" || path === null || access.isOpen || unasked.includes(name)) return [];
    return [[name, { by: whoMay(owner, scene, access), path, request: {} }]];
  });
}

function fieldsOf(owner: Owner, declared: Declared, scene: TrustingScene): [string, Attempt][] {
  const reads = fieldReads(owner.things);
  assert.deepEqual(Object.keys(reads).sort(), [...declared.keys()].filter(isFieldRead).sort(), "every field is read");
  return Object.entries(reads).map(([name, query]) => {
    const access = declared.get(name);
    assert.ok(access, `${name} is declared`);
    return [name, { by: whoMay(owner, scene, access), path: "/graphql", request: { body: { query } } }];
  });
}

function namesThing(name: string, { request: { body } }: Attempt): boolean {
  if (name.includes(" ")) return name.includes("{") && name !== namesOwn;
  return /"id":|"accountId":|\(id: /.test(JSON.stringify(body));
}
