import {
  type AuditAction,
  OperationInput,
  OperationWithReasonInput,
  operationOutcome,
  type ThingAction,
} from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { ifMatch, ok, type Routes } from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import { audited } from "../audit/audit-entry.ts";
import { noSuch, type OperatingParts, operatingBase, operatorOf } from "./operating.ts";

/** An action of an operator on one thing that a service owns. */
export interface OperatingAction<Thing> {
  /** The action in the audit; its last word is that of the path. */
  readonly audit: ThingAction & AuditAction;
  /** The collection in the path, such as `dead-letters`. */
  readonly collection: string;
  /** The name of the thing in a sentence. */
  readonly what: string;
  /** True for an action that gives something up, which needs a reason. */
  readonly needsReason: boolean;
  readonly find: (id: string) => Promise<Thing | null>;
  readonly view: (thing: Thing) => { readonly version: string };
  /** Completes the sentence "The message was …". */
  readonly effect: (thing: Thing) => string;
  /** @throws AppError when the thing has changed since it was found */
  readonly change: (tx: Tx, thing: Thing, reason: string | null) => Promise<void>;
}

/**
 * Adds the route of an action: it compares the state that the operator saw, changes, and leaves an entry in the audit,
 * in one transaction. A dry run does everything but the change.
 */
export function addAction<Thing>(routes: Routes, parts: OperatingParts, action: OperatingAction<Thing>): void {
  const { audit, collection, what, needsReason, find, view, effect, change } = action;
  routes.post(`${operatingBase}${collection}/:id/${audit.split(".").at(-1)}`, {
    summary: `An operator's ${audit}`,
    auth: "anonymous",
    audit,
    rateLimit: "none",
    body: needsReason ? OperationWithReasonInput : OperationInput,
    responses: {
      200: operationOutcome(z.unknown(), `Internal_${audit.replace(".", "_")}`),
      404: "error",
      409: "error",
    },
    async handle(input) {
      const caller = operatorOf(input, "operations:write");
      const { dry_run: isDryRun } = input.body;
      const reason = "reason" in input.body ? (input.body.reason as string) : null;
      const thing = await find(input.params.id as string);
      if (thing === null) throw noSuch(what);
      const target = view(thing);
      requireSeen(input.headers["if-match"], isDryRun);
      ifMatch(input, `"${target.version}"`);
      if (!isDryRun) {
        await input.inTransaction(async (tx) => {
          await change(tx, thing, reason);
          await parts.outbox.append(tx, [
            audited(caller, { action: audit, subject: input.params.id as string, reason }),
          ]);
        });
      }
      const sentence = `The message ${isDryRun ? "would be" : "was"} ${effect(thing)}.`;
      return ok({ dry_run: isDryRun, done: !isDryRun, effect: sentence, target });
    },
  });
}

/** @throws AppError without an expected state: what an operator has not seen, nobody may give up. */
function requireSeen(header: string | undefined, isDryRun: boolean): void {
  if (isDryRun || (header !== undefined && header.trim() !== "*")) return;
  throw new AppError("invalid_request", "Send If-Match with the version that you have read, or dry_run.", {
    field: "If-Match",
  });
}

/** The refusal when the thing is no longer as it was found. */
export const changedMeanwhile = (message = "It has changed since it was read. Read it again, then decide."): AppError =>
  new AppError("conflict", message, { field: "If-Match" });
