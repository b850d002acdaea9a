import assert from "node:assert/strict";
import { test } from "node:test";
import { auditActions } from "@signalbox/contracts";
import { serviceDoors } from "./service-doors.ts";
import { writesOf } from "./writes.ts";

/** Actions of the product itself, or of the built-in issuer, which has no routes of ours. */
const withoutRoute = [
  "account.create",
  "account.contact_release",
  "account.purge",
  "sign_in",
  "api_key.expire",
  "api_key.use",
  "client.expire",
  "client.use",
  "image.erase",
  "token.revoke",
  "webhook_endpoint.disable",
  "webhook_event_type.downgrade",
  "property.expire",
  "management.read_env",
  "audit.limit",
];

const writes = (await Promise.all((await serviceDoors()).map(writesOf))).flat();

test("every route and mutation that writes declares its audit entry, or the reason why it leaves none", () => {
  const silent = writes.filter(({ actions, unaudited }) => actions.length === 0 && !unaudited?.trim());
  assert.deepEqual(silent, [], "add `audit` to the declaration, and the action to the table of contracts");
  assert.ok(writes.length > 50, `only ${writes.length} writes were found`);
});

test("every action of the audit belongs to a route or mutation, or to the product itself", () => {
  const declared = new Set<string>(writes.flatMap(({ actions }) => actions));
  const orphans = Object.keys(auditActions).filter((action) => !declared.has(action));
  assert.deepEqual(orphans.sort(), [...withoutRoute].sort());
});
