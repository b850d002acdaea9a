import assert from "node:assert/strict";
import { serviceDoors, type Write, writesOf } from "@signalbox/infra/generate/access/service-doors.ts";
import { eventually } from "@signalbox/testing";
import type { Attempt, Recipes } from "./recipes/attempt.ts";
import { recipesOfIssuer } from "./recipes/issuer.ts";
import { recipes } from "./recipes/recipes.ts";
import type { World } from "./world.ts";

/** The part of an audit entry that the walk checks. */
interface Entry {
  readonly action: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly request_id: string | null;
}

/**
 * A test of the service finds these entries: one comes after the hour, and passkeys exist only where the system has a
 * name, while these systems have an address.
 */
const isFoundElsewhere = ({ actions }: Write) =>
  actions.some((action) => action === "webhook_event.publish" || action.startsWith("passkey."));

/** Makes the writes of a table, and finds the entry of each in the audit: its action, and no undeclared one. */
export async function walkWrites(world: World, table: Recipes = recipes): Promise<void> {
  const declared = (await serviceDoors()).flatMap(writesOf);
  const writes = declared.filter((write) => write.actions.length > 0 && !isFoundElsewhere(write));
  const named = writes.map(({ operation }) => operation).sort();
  const known = [...Object.keys(recipes), ...Object.keys(recipesOfIssuer)];
  assert.deepEqual(known.sort(), named, "every write that is declared in any service has a recipe");
  for (const write of writes) {
    const attempt = await table[write.operation]?.(world);
    if (attempt) await leavesItsEntry(world, write, attempt);
  }
}

async function leavesItsEntry(
  world: World,
  { operation, actions }: Write,
  { by, path, request, besides = [] }: Attempt,
): Promise<void> {
  const requestId = crypto.randomUUID();
  const { json } = await world.send({ ...by, "x-request-id": requestId }, path, request);
  for (const payload of Object.values(json?.data ?? {})) {
    assert.deepEqual((payload as { errors?: unknown[] }).errors ?? [], [], operation);
  }
  const entries = await entriesOf(world, requestId, operation);
  const left = (action: string) => actions.some((one) => one === action);
  assert.ok(
    entries.some(({ action }) => left(action)),
    operation,
  );
  const undeclared = entries.filter(({ action }) => !left(action) && !besides.includes(action));
  assert.deepEqual(undeclared, [], operation);
  for (const entry of entries) assert.equal(entry.outcome, "done", operation);
}

/** The entries of a request, as administrators read them over all accounts, once there is one. */
function entriesOf(world: World, requestId: string, operation: string): Promise<Entry[]> {
  return eventually(
    async () => {
      const entries = (await newestEntries(world)).filter((entry) => entry.request_id === requestId);
      return entries.length > 0 && entries;
    },
    { message: `no entry of ${operation}` },
  );
}

/** As many entries as the walk leaves in a minute: that of a read has the time at which its minute began. */
async function newestEntries({ send, administrator }: World): Promise<Entry[]> {
  const entries: Entry[] = [];
  let cursor = "";
  do {
    const page = (await send(administrator, `/api/accounts/audit/?limit=50${cursor}`)).json;
    entries.push(...page.items);
    cursor = page.next_cursor ? `&cursor=${encodeURIComponent(page.next_cursor)}` : "";
  } while (cursor !== "" && entries.length < 1_000);
  return entries;
}

/** Refusals of known callers by services without an audit of their own are in the callers' audit. */
export async function findsRefusals(world: World): Promise<void> {
  const person = await world.person();
  const body = { name: "reader", scopes: ["account:read"] };
  const { id, key } = (await world.send(person.headers, "/api/account/api-keys/", { body })).json;
  const attempts = [
    ["/api/v1/webhooks/endpoints", { body: {} }],
    ["/api/v1/webhooks/sources", { body: {} }],
    ["/images", {}],
    ["/api/v1/env", {}],
  ] as const;
  for (const [path, request] of attempts) {
    assert.equal((await world.tryTo({ "x-api-key": key }, path, request)).status, 403, path);
  }
  const query = `/api/account/audit/?outcome=refused&actor=${id}`;
  const entries = await eventually(async () => {
    const { items } = (await world.send(person.headers, query)).json;
    return items.length >= 4 && (items as Entry[]);
  });
  assert.deepEqual([...new Set(entries.map(({ action, reason }) => `${action} ${reason}`))].sort(), [
    "GET /api/v1/env scope_required",
    "GET /images scope_required",
    "POST /api/v1/webhooks/endpoints scope_required",
    "POST /api/v1/webhooks/sources scope_required",
  ]);
}
