import assert from "node:assert/strict";
import { get } from "node:http";
import type { Duplex } from "node:stream";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { eventually, type TestPerson } from "@signalbox/testing";
import fc from "fast-check";
import { WebSocket } from "ws";
import { type Access, LiveInMemory, type SchemaName } from "./live-in-memory.ts";

/** A subscription as its client knows it. Its name is the alias of its field, so that each message says whose it is. */
interface Subscription {
  readonly id: string;
  readonly name: string;
  /** The offset of its next message; null before the first one. */
  next: bigint | null;
  /** The message of the end was sent by this ping; null before that. */
  completedBy: number | null;
  isOver: boolean;
  /** True once nothing may come any more. */
  isSilent: boolean;
}

/** Ends that a client has to expect. */
const endings = [
  "SLOW_CONSUMER",
  "CURSOR_EXPIRED",
  "SCHEMA_CHANGED",
  "FORBIDDEN",
  "UNAUTHENTICATED",
  "DRAINING",
  "VALIDATION_FAILED",
];

/** What the clients of one run see, judged as it comes. */
class Observer {
  readonly faults: string[] = [];
  /** Cursors of messages and of ends, to resume after. */
  readonly cursors: string[] = [];
  readonly system: LiveInMemory;
  #count = 0;

  constructor(system: LiveInMemory) {
    this.system = system;
  }

  begin(id: string, resumeAfter: string | null): Subscription {
    const next = resumeAfter === null ? null : this.system.offsetOf(resumeAfter);
    return { id, name: `s${this.#count++}`, next, completedBy: null, isOver: false, isSilent: false };
  }

  message(one: Subscription, { data }: Payload): void {
    const { changed, cursor } = data?.[one.name] ?? assert.fail("a message has no data");
    const offset = BigInt(changed[0] ?? -1);
    if (one.isSilent) this.faults.push(`${one.name} got ${offset} after its end`);
    if (one.next !== null && offset !== one.next) this.faults.push(`${one.name} got ${offset} instead of ${one.next}`);
    if (this.system.offsetOf(cursor) !== offset + 1n) this.faults.push(`the cursor of ${offset} is not the one after`);
    one.next = offset + 1n;
    this.cursors.push(cursor);
  }

  ended(one: Subscription, [error]: Errors): void {
    const { code, cursor } = error?.extensions ?? {};
    if (!endings.includes(code ?? "")) this.faults.push(`${one.name} ended with ${code}: ${error?.message}`);
    if (one.isSilent) this.faults.push(`${one.name} ended twice`);
    if (code === "CURSOR_EXPIRED" && this.system.log.first <= (one.next ?? 0n))
      this.faults.push(`${one.name} lost ${one.next}, which is kept`);
    one.isOver = true;
    if (cursor === undefined) return;
    const offset = this.system.offsetOf(cursor);
    if (one.next !== null && offset !== one.next)
      this.faults.push(`${one.name} is to go on with ${offset} instead of ${one.next}`);
    this.cursors.push(cursor);
  }
}

type Errors = readonly { readonly message: string; readonly extensions?: { code?: string; cursor?: string } }[];
interface Payload {
  readonly data?: Record<string, { readonly changed: readonly string[]; readonly cursor: string }>;
  readonly errors?: Errors;
}

const textOf = ({ name }: Subscription, { wantsId, wantsImage }: Fields) =>
  `subscription { ${name}: imageChanged { changed cursor ${wantsId ? "imageId " : ""}${wantsImage ? "image { id } " : ""}} }`;

interface Fields {
  readonly wantsId: boolean;
  readonly wantsImage: boolean;
}

/** A client over WebSocket. */
class SocketClient {
  readonly subscriptions: Subscription[] = [];
  readonly #observer: Observer;
  readonly #connection: Duplex;
  readonly #socket: WebSocket;
  #pings = 0;
  isClosed = false;

  constructor(observer: Observer, person: TestPerson) {
    this.#observer = observer;
    this.#connection = observer.system.connect();
    const createConnection = () => this.#connection;
    this.#socket = new WebSocket("ws://gateway/graphql", "graphql-transport-ws", { createConnection } as never);
    this.#socket.on("open", () => this.#send({ type: "connection_init", payload: person.headers }));
    this.#socket.on("message", (text) => this.#receive(JSON.parse(String(text))));
    this.#socket.on("error", () => {});
    this.#socket.on("close", () => this.#close());
  }

  readonly acknowledged = Promise.withResolvers<void>();

  subscribe(id: string, resumeAfter: string | null, fields: Fields): void {
    if (this.isClosed || this.#current(id)) return;
    const one = this.#observer.begin(id, resumeAfter);
    this.subscriptions.push(one);
    this.#send({ id, type: "subscribe", payload: { query: textOf(one, fields), extensions: { resumeAfter } } });
  }

  complete(id: string): void {
    const one = this.#current(id);
    if (one) this.#complete(one);
  }

  #complete(one: Subscription): void {
    one.completedBy = ++this.#pings;
    this.#send({ id: one.id, type: "complete" });
    this.#send({ type: "ping", payload: { ping: this.#pings } });
  }

  /** Completes all, those as well that an error may have ended: it does not say which of an id it is about. */
  completeAll(): void {
    for (const one of this.subscriptions.filter(({ completedBy }) => completedBy === null)) this.#complete(one);
  }

  stopReading(): void {
    if (!this.isClosed) this.#connection.pause();
  }

  read(): void {
    this.#connection.resume();
  }

  cut(): void {
    this.#connection.destroy();
  }

  /** The subscription that has an id now. */
  #current(id: string): Subscription | undefined {
    return this.subscriptions.find((one) => one.id === id && one.completedBy === null && !one.isOver);
  }

  #receive({ type, id, payload }: { type: string; id?: string; payload: never }): void {
    if (type === "connection_ack") this.acknowledged.resolve();
    if (type === "pong") this.#silence((payload as { ping: number }).ping);
    if (type === "next") {
      const [name] = Object.keys((payload as Payload).data ?? {});
      const one = this.subscriptions.find((one) => one.name === name);
      if (one) this.#observer.message(one, payload);
      else this.#observer.faults.push(`a message without a subscription: ${JSON.stringify(payload)}`);
    }
    // One that was just completed may have ended by itself: an error does not say which of the two it is about.
    const candidates = this.subscriptions.filter((one) => one.id === id && !one.isOver && !one.isSilent);
    if (type === "complete") this.#observer.faults.push(`the server completed ${id}`);
    if (type !== "error") return;
    const [only] = candidates;
    if (candidates.length === 1 && only) this.#observer.ended(only, payload);
    else for (const one of candidates) one.isOver = true;
    if (!this.subscriptions.some((one) => one.id === id && !one.isSilent))
      this.#observer.faults.push(`an error without a subscription: ${id}`);
  }

  #silence(ping: number): void {
    for (const one of this.subscriptions)
      if (one.completedBy !== null && one.completedBy <= ping) Object.assign(one, { isOver: true, isSilent: true });
  }

  #close(): void {
    this.isClosed = true;
    this.acknowledged.resolve();
    for (const one of this.subscriptions) one.isOver = true;
  }

  #send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}

/** A client of one event stream. */
class StreamClient {
  readonly subscriptions: Subscription[];
  readonly #connection: Duplex;
  #rest = "";

  constructor(observer: Observer, person: TestPerson, resumeAfter: string | null, fields: Fields) {
    const one = observer.begin("", resumeAfter);
    this.subscriptions = [one];
    this.#connection = observer.system.connect();
    const request = get({
      createConnection: () => this.#connection,
      path: `/graphql?query=${encodeURIComponent(textOf(one, fields))}`,
      headers: { ...person.headers, ...(resumeAfter !== null && { "last-event-id": resumeAfter }) },
    });
    request.on("error", () => {});
    request.on("response", (response) => {
      response.on("error", () => {});
      response.setEncoding("utf8").on("data", (text: string) => {
        const events = `${this.#rest}${text}`.split("\n\n");
        this.#rest = events.pop() ?? "";
        for (const event of events) {
          const data = /^event: next\ndata: (.*)$/m.exec(event)?.[1];
          if (data === undefined) continue;
          const payload: Payload = JSON.parse(data);
          if (payload.errors) observer.ended(one, payload.errors);
          else observer.message(one, payload);
        }
      });
    });
    this.#connection.once("close", () => {
      one.isOver = true;
    });
  }

  get isClosed(): boolean {
    return this.#connection.destroyed;
  }

  stopReading(): void {
    if (!this.isClosed) this.#connection.pause();
  }

  read(): void {
    this.#connection.resume();
  }

  cut(): void {
    this.#connection.destroy();
  }
}

const slot = fc.nat(2);
const id = fc.constantFrom("x", "y");
/** Which of the cursors seen so far; none for a subscription from now on. */
const resume = fc.option(fc.noBias(fc.nat(99)), { freq: 2 });
const fields = fc.record({ wantsId: fc.boolean(), wantsImage: fc.boolean() });
const stepOf = <Kind extends string, Members extends object>(
  kind: Kind,
  members: { [Key in keyof Members]: fc.Arbitrary<Members[Key]> },
) => fc.record({ kind: fc.constant(kind), ...members }) as unknown as fc.Arbitrary<{ readonly kind: Kind } & Members>;

const step = fc.oneof(
  { weight: 5, arbitrary: stepOf("publish", { count: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 5, arbitrary: stepOf("subscribe", { slot, id, resume, fields }) },
  { weight: 3, arbitrary: stepOf("complete", { slot, id }) },
  { weight: 3, arbitrary: stepOf("begin again", { slot, id, resume, fields }) },
  { weight: 3, arbitrary: stepOf("stream", { slot, resume, fields }) },
  { weight: 2, arbitrary: stepOf("stop reading", { slot, isStream: fc.boolean() }) },
  { weight: 1, arbitrary: stepOf("read", { slot, isStream: fc.boolean() }) },
  { weight: 2, arbitrary: stepOf("cut", { slot, isStream: fc.boolean() }) },
  { weight: 1, arbitrary: stepOf("change access", { slot, access: fc.constantFrom<Access>("revoked", "narrow") }) },
  { weight: 1, arbitrary: stepOf("deploy", { schema: fc.constantFrom<SchemaName>("whole", "again", "lacking") }) },
  { weight: 1, arbitrary: stepOf("expire", { count: fc.nat(60) }) },
  { weight: 4, arbitrary: stepOf("wait", { turns: fc.nat(20) }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Plays the steps of one run, each with the clients of its slot. */
class Run {
  readonly #system: LiveInMemory;
  readonly #observer: Observer;
  readonly #people: TestPerson[];
  readonly #sockets: (SocketClient | undefined)[] = [];
  readonly #streams: (StreamClient | undefined)[] = [];

  constructor(system: LiveInMemory) {
    this.#system = system;
    this.#observer = new Observer(system);
    this.#people = Array.from({ length: 3 }, () => system.person());
  }

  get #clients() {
    return [...this.#sockets, ...this.#streams].filter((client) => client !== undefined);
  }

  async play(step: Step): Promise<void> {
    const system = this.#system;
    if (step.kind === "publish") await system.publish(step.count);
    else if (step.kind === "deploy") system.deploy(step.schema);
    else if (step.kind === "expire") system.log.expire(BigInt(step.count));
    else if (step.kind === "wait") for (let turn = 0; turn < step.turns; turn++) await nextTurn();
    else if (step.kind === "change access") this.#changeAccess(step.slot, step.access);
    else if (step.kind === "stream") {
      this.#streams[step.slot]?.cut();
      const person = this.#people[step.slot] ?? assert.fail();
      this.#streams[step.slot] = new StreamClient(this.#observer, person, this.#cursor(step.resume), step.fields);
    } else if (step.kind === "subscribe" || step.kind === "begin again") await this.#subscribe(step);
    else if (step.kind === "complete") this.#sockets[step.slot]?.complete(step.id);
    else {
      const client = (step.isStream ? this.#streams : this.#sockets)[step.slot];
      if (step.kind === "cut") client?.cut();
      else if (step.kind === "read") client?.read();
      else client?.stopReading();
    }
  }

  async #subscribe(step: Extract<Step, { kind: "subscribe" | "begin again" }>): Promise<void> {
    let client = this.#sockets[step.slot];
    if (!client || client.isClosed) {
      client = new SocketClient(this.#observer, this.#people[step.slot] ?? assert.fail());
      this.#sockets[step.slot] = client;
      await client.acknowledged.promise;
    }
    client.subscribe(step.id, this.#cursor(step.resume), step.fields);
    if (step.kind === "subscribe") return;
    client.complete(step.id);
    client.subscribe(step.id, this.#cursor(step.resume), step.fields);
  }

  /** The next connections of the slot have a credential that nothing has happened to. */
  #changeAccess(slot: number, access: Access): void {
    this.#system.change(this.#people[slot] ?? assert.fail(), access);
    this.#people[slot] = this.#system.person();
  }

  #cursor(percent: number | null): string | null {
    const { cursors } = this.#observer;
    return percent === null ? null : (cursors[Math.floor((percent * cursors.length) / 100)] ?? null);
  }

  /** Everybody reads, and every open subscription gets all that there is. */
  async settle(): Promise<void> {
    for (const client of this.#clients) client.read();
    const open = () => this.#clients.flatMap((client) => client.subscriptions).filter(({ isOver }) => !isOver);
    await this.#until(async () => {
      const silent = open().filter(({ next }) => next === null);
      if (silent.length > 0) await this.#system.publish(1);
      assert.deepEqual(silent, []);
    });
    // One that resumes at the end has a place before it was accepted: an event more shows that it was.
    await this.#system.publish(1);
    await this.#until(() => {
      const { end } = this.#system.log;
      const behind = open().filter(({ next }) => next !== end);
      assert.deepEqual(behind, [], `not all were told up to ${end}`);
    });
  }

  /** Ends everything in one of the ways there are. */
  async end(how: "complete" | "cut" | "drain"): Promise<void> {
    if (how === "drain") this.#system.live.drain();
    if (how === "complete") for (const client of this.#sockets) client?.completeAll();
    const cut = { complete: this.#streams, cut: this.#clients, drain: [] }[how];
    for (const client of cut) client?.cut();
    await this.#until(async () => assert.equal(await this.#system.subscriptions(), 0, "subscriptions are left"));
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    await this.#until(() => {});
  }

  /** Waits for a condition, unless something has gone wrong already. */
  async #until(check: () => void | Promise<void>): Promise<void> {
    const { faults } = this.#observer;
    const faultsNow = () => [...faults, ...this.#system.unhandled.map((error) => `unhandled: ${error}`)];
    await eventually(async () => void (faultsNow().length > 0 || (await check())), { timeoutMs: 5_000 });
    assert.deepEqual(faultsNow().slice(0, 5), []);
  }
}

test("no order of steps by clients, operators or keys loses a message, a place or the process", async () => {
  const ways = fc.constantFrom("complete" as const, "cut" as const, "drain" as const);
  const plays = fc.asyncProperty(
    fc.array(step, { minLength: 5, maxLength: 60, size: "max" }),
    ways,
    fc.infiniteStream(fc.noBias(fc.nat(99))),
    async (steps, way, numbers) => {
      const system = new LiveInMemory(numbers);
      await system.open();
      try {
        const run = new Run(system);
        for (const one of steps) await run.play(one);
        await run.settle();
        await run.end(way);
      } finally {
        system.close();
      }
    },
  );
  await fc.assert(plays, { numRuns: 40, endOnFailure: true });
});
