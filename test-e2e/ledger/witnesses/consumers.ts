import { setTimeout as sleep } from "node:timers/promises";
import type { Http, Reply } from "../http.ts";
import type { Random } from "../random.ts";
import type { Member, Scene } from "../scene.ts";
import type { LedgerReceiver } from "./receiver.ts";

interface Message {
  readonly lease_id: string;
  readonly delivery_id: string;
  readonly event_id: string;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Of a hundred messages so many are forgotten, as by a consumer that was killed, and given back. */
const forgotten = 0.03;
const givenBack = 0.03;
const pollSeconds = 5;
const leaseSeconds = 3;
/** Longer than any fault holds an answer up: PostgreSQL may take half a minute to recover, Kafka longer. */
const ackPatienceMs = 180_000;

/**
 * Consumers of the pull endpoints, two of each, until everything has settled. An acknowledged message counts as one that
 * a receiver took; the rest goes into the history.
 */
export class PullConsumers {
  readonly #scene: Scene;
  readonly #receiver: Pick<LedgerReceiver, "note">;
  readonly #over = new AbortController();
  readonly #running: Promise<unknown>;

  constructor(scene: Scene, receiver: Pick<LedgerReceiver, "note">) {
    this.#scene = scene;
    this.#receiver = receiver;
    this.#running = Promise.all(
      scene.members.flatMap((member) => [
        // Two processes share one place in the stream.
        this.#consume(member, "pulled", scene.random.fork(`first puller of ${member.account}`)),
        this.#consume(member, "pulled", scene.random.fork(`second puller of ${member.account}`)),
        this.#consume(member, "second", scene.random.fork(`named puller of ${member.account}`)),
      ]),
    );
  }

  async finish(): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  async #consume({ endpoints, http }: Member, kind: "pulled" | "second", random: Random): Promise<void> {
    const { name, id } = endpoints[kind];
    const path = `/api/v1/webhooks/endpoints/${id}/messages`;
    const consumer = kind === "second" ? `&consumer=${kind}` : "";
    const query = `limit=5&wait_seconds=${pollSeconds}&lease_seconds=${leaseSeconds}${consumer}`;
    while (!this.#over.signal.aborted) {
      const done = this.#scene.history.begin(name, "pull", { endpoint: name });
      const reply = await http(`${path}?${query}`);
      const messages: readonly Message[] = reply?.status === 200 ? reply.json.items : [];
      done(reply?.status === 200 ? "ok" : "info", { messages: messages.map(described) });
      for (const message of messages) await this.#end(http, path, name, message, random.next());
      if (reply?.status !== 200) await sleep(200);
    }
  }

  async #end(http: Http, path: string, endpoint: string, message: Message, lot: number): Promise<void> {
    if (lot < forgotten) return;
    const how = lot < forgotten + givenBack ? "nack" : "ack";
    const body = { lease_ids: [message.lease_id], ...(how === "nack" && { delay_seconds: 0 }) };
    const { history } = this.#scene;
    const done = history.begin(endpoint, `pull-${how}`, { endpoint, ...described(message) });
    const reply = await answered(() => http(`${path}/${how}`, { body }), this.#over.signal);
    done(reply?.status === 200 ? "ok" : reply?.status === 409 ? "fail" : "info", { status: reply?.status });
    if (how !== "ack" || reply?.status !== 200) return;
    const { data } = JSON.parse(message.body);
    this.#receiver.note({
      t: history.now(),
      endpoint,
      eventId: message.event_id,
      deliveryId: message.delivery_id,
      type: message.type,
      replay: null,
      status: 200,
      body: message.body,
      subject: `${data.id} ${data.title}`,
    });
  }
}

/** Repeats a request until it is answered or the round is over: ending a lease twice has no further effect. */
async function answered(send: () => Promise<Reply | null>, over: AbortSignal): Promise<Reply | null> {
  const endsAt = performance.now() + ackPatienceMs;
  for (;;) {
    const reply = await send();
    const isFinal = reply !== null && reply.status < 500 && reply.status !== 429;
    if (isFinal || over.aborted || performance.now() > endsAt) return reply;
    await sleep(200);
  }
}

/** The members of a message that the invariants judge. The subject of an event about an image is the image. */
function described({ delivery_id: delivery, body, headers }: Message) {
  const sequence = headers["X-Sequence"];
  return {
    delivery,
    subject: JSON.parse(body).data.id ?? null,
    sequence: sequence === undefined ? null : Number(sequence),
  };
}
