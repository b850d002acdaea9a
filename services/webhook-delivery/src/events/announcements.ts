import { draft, type EventDraft } from "@signalbox/contracts";
import type { OutgoingEvent } from "./outgoing-event.ts";

type NotedEvent = Pick<OutgoingEvent, "accountId" | "id" | "type" | "createdAt">;

/** The events of an account that are not announced yet. */
interface Waiting {
  readonly newest: NotedEvent;
  readonly count: number;
}

/** Messages of one step. Two steps a second bound what live observers cost, however many accounts publish. */
const messagesMax = 100;
/** Accounts that wait for a step. Those beyond it are not announced: their pages read the list every few seconds too. */
const accountsMax = 10_000;

/** Announces published events to live observers, from memory: a killed instance loses those that wait. */
export class Announcements {
  readonly #publish: (drafts: readonly EventDraft[]) => Promise<void>;
  readonly #waiting = new Map<string, Waiting>();

  constructor(publish: (drafts: readonly EventDraft[]) => Promise<void>) {
    this.#publish = publish;
  }

  note(events: readonly NotedEvent[]): void {
    for (const event of events) this.#add(event, 1);
  }

  async step(): Promise<void> {
    const batch = [...this.#waiting.values()].slice(0, messagesMax);
    if (batch.length === 0) return;
    for (const { newest } of batch) this.#waiting.delete(newest.accountId);
    try {
      await this.#publish(batch.map(announcementOf));
    } catch (error) {
      for (const { newest, count } of batch) this.#add(newest, count);
      throw error;
    }
  }

  #add(newest: NotedEvent, count: number): void {
    const { accountId } = newest;
    const before = this.#waiting.get(accountId);
    if (!before && this.#waiting.size >= accountsMax) return;
    const isOlder = before !== undefined && before.newest.createdAt > newest.createdAt;
    this.#waiting.set(accountId, { newest: isOlder ? before.newest : newest, count: count + (before?.count ?? 0) });
  }
}

function announcementOf({ newest: { accountId, id, type, createdAt }, count }: Waiting) {
  const data = { id, type, created_at: createdAt.toISOString(), count };
  return draft("webhook_event.published", { subject: accountId, accountId, data });
}
