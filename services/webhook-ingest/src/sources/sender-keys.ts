import type { Caller } from "@signalbox/auth";
import { examples, readableSenders } from "@signalbox/contracts";
import { AppError, type Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { HttpResponse } from "@signalbox/http";
import type { OutboundClient } from "@signalbox/net";
import { audited, type OwnRow, operation } from "@signalbox/service";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import { z } from "zod";
import { placeProblem, type RefusedKeyReason, readable, type SenderKey, type SenderPlace } from "./sender-key.ts";
import { type Source, sourceUpdated } from "./source.ts";
import type { SourceCache } from "./source-cache.ts";
import type { SenderKeyStore, SourceStore } from "./source-store.ts";
import { SourceInFullResource } from "./source-view.ts";

interface SenderKeyDependencies {
  readonly pool: Pool;
  readonly sourceStore: Pick<SourceStore, "lockById">;
  readonly senderKeyStore: SenderKeyStore;
  readonly knownSources: Pick<SourceCache, "forget">;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly outbound: Pick<OutboundClient, "check">;
  /** Starts and ends the comparisons of a source, in the transaction of its key. */
  readonly schedule: {
    readonly start: (tx: Tx, source: Source) => Promise<void>;
    readonly end: (tx: Tx, source: Source) => Promise<void>;
  };
}

export type SenderKeys = ReturnType<typeof createSenderKeys>;

/** Creates the operations on the read keys of senders: give one, which takes the place of the last one, and remove it. */
export function createSenderKeys(dependencies: SenderKeyDependencies) {
  const { pool, sourceStore, senderKeyStore, knownSources, outbox, clock, outbound, schedule } = dependencies;

  /** Saves a source with another key in its next revision, with its event. */
  async function save(tx: Tx, source: Source, senderKey: SenderKey | null, text?: string | null): Promise<Source> {
    const updated = { ...source, senderKey, revision: source.revision + 1, updatedAt: clock.now() };
    await senderKeyStore.save(tx, updated, text);
    tx.afterCommit(() => knownSources.forget(source.id));
    await outbox.append(tx, [sourceUpdated(updated, ["sender_key"])]);
    return updated;
  }

  return {
    /**
     * Gives a source the read key of its sender, and has it compared with the sender's list at once.
     * @throws AppError `validation_error` for a key that does not fit the source
     */
    async set(tx: Tx, caller: Caller, source: Source, place: SenderPlace, text: string): Promise<Source> {
      assertFits(place, source, outbound);
      const at = clock.now().toISOString();
      const updated = await save(
        tx,
        source,
        { ...place, state: "unchecked", reason: null, since: at, setAt: at },
        text,
      );
      await schedule.start(tx, updated);
      await outbox.append(tx, [audited(caller, { action: "webhook_source.set_sender_key", subject: source.id })]);
      return updated;
    },

    /** Removes the key. What was recovered by it stays. */
    async remove(tx: Tx, caller: Caller, source: Source): Promise<void> {
      if (source.senderKey === null) return;
      await save(tx, source, null, null);
      await schedule.end(tx, source);
      await outbox.append(tx, [audited(caller, { action: "webhook_source.delete_sender_key", subject: source.id })]);
    },

    /** Notes that the sender took the key, or for which reason it did not. A key that was replaced meanwhile stays. */
    async note({ id, senderKey }: Source, reason: RefusedKeyReason | null): Promise<void> {
      const state = reason === null ? "working" : "refused";
      if (senderKey?.state === state && senderKey.reason === reason) return;
      await inTransaction(pool, async (tx) => {
        const source = await sourceStore.lockById(tx, id);
        if (!source?.senderKey || source.senderKey.setAt !== senderKey?.setAt) return;
        if (source.senderKey.state === state && source.senderKey.reason === reason) return;
        await save(tx, source, { ...source.senderKey, state, reason, since: clock.now().toISOString() });
      });
    },
  };
}

function assertFits(place: SenderPlace, source: Source, { check }: Pick<OutboundClient, "check">): void {
  const isForbidden = check(place.apiUrl, { requireHttps: true }) !== null;
  const problem = isForbidden
    ? { field: "api_url", message: "The address of the sender's API must be public, and https." }
    : placeProblem(place, source);
  if (problem === null) return;
  throw new AppError("validation_error", "The key does not fit the source.", {
    details: [{ ...problem, code: "invalid_value" }],
  });
}

const name = "[A-Za-z0-9_.-]{1,100}";

const SetSenderKeyBody = z
  .strictObject({
    sender: z.enum(readableSenders).describe("The sender whose list is read."),
    key: z
      .string()
      .min(8)
      .max(512)
      .regex(/^[\x21-\x7e]+$/)
      .describe("A key of the sender that may read, and for GitHub ask for redeliveries. Write-only."),
    repository: z
      .string()
      .regex(new RegExp(`^${name}/${name}$`), "A repository as owner/name.")
      .optional()
      .describe("For GitHub: the repository of the webhook, as `owner/name`."),
    organization: z
      .string()
      .regex(new RegExp(`^${name}$`))
      .optional()
      .describe("For GitHub: the organization of the webhook, instead of a repository."),
    hook_id: z
      .int()
      .min(1)
      .optional()
      .describe("For GitHub: the id of the webhook, the number in the URL of its page."),
    api_url: z
      .url({ protocol: /^https?$/ })
      .max(512)
      .regex(/^[^?#]*$/, "An address without a query.")
      .optional()
      .describe("The address of the API, for a server of your own such as GitHub Enterprise Server."),
  })
  .meta({ id: "SetWebhookSenderKey" })
  .register(examples, {
    example: {
      sender: "github",
      key: "a fine-grained token".replaceAll(" ", "-"),
      repository: "acme/shop",
      hook_id: 42,
    },
  });

function placeOf(body: z.output<typeof SetSenderKeyBody>): SenderPlace {
  const { sender, repository = null, organization = null, hook_id: hookId = null, api_url: apiUrl } = body;
  const address = (apiUrl ?? readable[sender].apiUrl).replace(/\/+$/, "");
  return { sender, repository, organization, hookId, apiUrl: address };
}

const path = "/api/v1/webhooks/sources/:id/sender-key";
const auth = { scopes: ["webhooks:write"], stepUp: true } as const;

/** Declares the operations on the read keys of senders, for `sourceApi`. */
export function senderKeyOperations(
  senderKeys: SenderKeys,
  of: OwnRow<Source, { readonly id: string }>,
  show: (source: Source) => HttpResponse,
) {
  return {
    setWebhookSenderKey: operation({
      summary: "Give a source a read key of its sender",
      description:
        "Missed webhooks are then recovered from the sender's own list. The key takes the place of the last one, and is never shown.",
      auth,
      audit: "webhook_source.set_sender_key",
      input: SetSenderKeyBody,
      of,
      change: (tx, source, { caller, input }) => senderKeys.set(tx, caller, source, placeOf(input), input.key),
      rest: { put: path, responses: { 200: SourceInFullResource }, idempotent: true, answer: show },
      graph: { payload: "webhookSource" },
    }),
    deleteWebhookSenderKey: operation({
      summary: "Remove the read key of a source's sender",
      description: "A comparison under way ends; what was recovered stays.",
      auth,
      audit: "webhook_source.delete_sender_key",
      of,
      change: (tx, source, { caller }) => senderKeys.remove(tx, caller, source),
      rest: { delete: path, responses: { 204: "empty" }, idempotent: true },
      graph: { payload: { webhookSourceId: (_, { params }) => params.id }, type: "DeleteWebhookSenderKeyPayload" },
    }),
  };
}
