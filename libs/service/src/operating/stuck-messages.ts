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
import type { maskedMessage } from "./message-view.ts";
import {
  noSuch,
  type OperatingParts,
  OperatingRange,
  operatingAuth,
  operatingBase,
  operatorOf,
  type RecordRead,
} from "./operating.ts";

type MessageResource = z.ZodType<{ readonly id: string; readonly version: string }>;

/** A kind of message that a service could not handle or publish, with what operators see of it and do with it. */
export interface StuckMessages<Message, Resource extends MessageResource> {
  /** The collection in the path, such as `dead-letters`. */
  readonly collection: string;
  /** The name of one in a sentence. */
  readonly what: string;
  /** The summary of the list. */
  readonly summary: string;
  readonly resource: Resource;
  readonly list: (range: z.output<typeof OperatingRange>) => Promise<z.output<Resource>[]>;
  readonly find: (id: string) => Promise<Message | null>;
  readonly view: (message: Message) => z.output<Resource>;
  readonly actions: readonly OperatingAction<Message>[];
}

/** Adds the list of a kind of message, and the actions on one. */
export function addStuckMessages<Message, Resource extends MessageResource>(
  routes: Routes,
  parts: OperatingParts,
  kind: StuckMessages<Message, Resource>,
): void {
  const { collection, summary, resource, list, actions } = kind;
  routes.get(`${operatingBase}${collection}`, {
    ...operatingAuth,
    summary,
    query: OperatingRange,
    responses: { 200: z.object({ items: z.array(resource) }) },
    async handle(input) {
      operatorOf(input, "operations:read");
      return ok({ items: await list(input.query) });
    },
  });
  for (const action of actions) addAction(routes, parts, kind, action);
}

/** Adds the route that shows one message with its masked body, a read that the audit keeps. */
export function addBodyRead<Message, Resource extends MessageResource>(
  routes: Routes,
  { collection, what, find, view }: StuckMessages<Message, Resource>,
  body: {
    readonly summary: string;
    readonly detail: z.ZodType;
    readonly audit: ThingAction & AuditAction;
    readonly recordRead: RecordRead;
    /** Shows the masked content of a message. */
    readonly content: (message: Message) => ReturnType<typeof maskedMessage>;
  },
): void {
  const { summary, detail, audit, recordRead, content } = body;
  routes.get(`${operatingBase}${collection}/:id`, {
    ...operatingAuth,
    summary,
    audit,
    responses: { 200: detail, 404: "error" },
    async handle(input) {
      const caller = operatorOf(input, "operations:read");
      const message = await find(input.params.id as string);
      if (message === null) throw noSuch(what);
      const shown = view(message);
      await recordRead(caller, { action: audit, subject: shown.id });
      return ok({ ...shown, ...content(message) });
    },
  });
}

/** An action of an operator on one message. */
export interface OperatingAction<Message> {
  /** The action in the audit; its last word is that of the path. */
  readonly audit: ThingAction & AuditAction;
  /** True for an action that gives something up, which needs a reason. */
  readonly needsReason: boolean;
  /** Completes the sentence "The message was …". */
  readonly effect: (message: Message) => string;
  /** @throws AppError when the message has changed since it was found */
  readonly change: (tx: Tx, message: Message, reason: string | null) => Promise<void>;
}

/**
 * Adds the route of an action: it compares the state that the operator saw, changes, and leaves an entry in the audit,
 * in one transaction. A dry run does everything but the change.
 */
function addAction<Message>(
  routes: Routes,
  parts: OperatingParts,
  kind: Pick<StuckMessages<Message, MessageResource>, "collection" | "what" | "find" | "view">,
  action: OperatingAction<Message>,
): void {
  const { collection, what, find, view } = kind;
  const { audit, needsReason, effect, change } = action;
  routes.post(`${operatingBase}${collection}/:id/${audit.split(".").at(-1)}`, {
    summary: `An operator's ${audit}`,
    ...operatingAuth,
    audit,
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
      const message = await find(input.params.id as string);
      if (message === null) throw noSuch(what);
      const target = view(message);
      requireSeen(input.headers["if-match"], isDryRun);
      ifMatch(input, `"${target.version}"`);
      if (!isDryRun) {
        await input.inTransaction(async (tx) => {
          await change(tx, message, reason);
          await parts.outbox.append(tx, [
            audited(caller, { action: audit, subject: input.params.id as string, reason }),
          ]);
        });
      }
      const sentence = `The message ${isDryRun ? "would be" : "was"} ${effect(message)}.`;
      return ok({ dry_run: isDryRun, done: !isDryRun, effect: sentence, target });
    },
  });
}

/** @throws AppError without an expected state: what an operator has not seen, nobody may give up. */
function requireSeen(header: string | undefined, isDryRun: boolean): void {
  if (isDryRun || (header !== undefined && header.trim() !== "*")) return;
  throw new AppError("invalid_request", "Send If-Match with the version that you have read, or set dry_run.", {
    field: "If-Match",
  });
}

/** The refusal when the thing is no longer as it was found. */
export const changedMeanwhile = (message = "It has changed since it was read. Read it again, then decide."): AppError =>
  new AppError("conflict", message, { field: "If-Match" });
