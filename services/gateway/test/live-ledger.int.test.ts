import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { environment } from "@signalbox/config";
import { draft, eventOf } from "@signalbox/contracts";
import { newId } from "@signalbox/core";
import { publishEvents } from "@signalbox/events";
import {
  eventually,
  freePort,
  startEngine,
  startProcess,
  type TestPerson,
  testContext,
  testEventLog,
  testPerson,
} from "@signalbox/testing";
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { properties } from "../src/properties.ts";
import { startBackends } from "./harness.ts";

/** `LIVE_EVENTS=10000` makes it the long run. */
const eventsMin = Number(environment().LIVE_EVENTS ?? 1_600);
const [people, clientsOfEach, imagesOfEach, pageSize] = [4, 5, 5, 8];
const query = "subscription { imageChanged { event { id } cursor imageId changed image { filename } } }";

interface Change {
  readonly event: { readonly id: string };
  readonly cursor: string;
  readonly imageId: string;
  readonly changed: readonly string[];
}

/** A client that always comes back, with the cursor of the last message that it got. */
class Follower {
  readonly person: TestPerson;
  readonly changes: Change[] = [];
  readonly errors = new Set<string>();
  readonly #url: string;
  #isStopped = false;
  #dispose: () => unknown = () => {};

  constructor(url: string, person: TestPerson) {
    this.#url = url;
    this.person = person;
    this.#subscribe();
  }

  #subscribe(): void {
    const { headers } = this.person;
    const client = createClient({
      url: this.#url,
      webSocketImpl: WebSocket,
      connectionParams: headers,
      retryAttempts: 0,
    });
    this.#dispose = () => client.dispose();
    const resumeAfter = this.changes.at(-1)?.cursor;
    const again = () => {
      if (!this.#isStopped) setTimeout(() => this.#subscribe(), 50);
    };
    client.subscribe<{ imageChanged: Change }>(
      { query, ...(resumeAfter && { extensions: { resumeAfter } }) },
      {
        next: ({ data, errors = [] }) => {
          if (data) this.changes.push(data.imageChanged);
          for (const { extensions } of errors) this.errors.add(String(extensions?.code));
        },
        error: again,
        complete: again,
      },
    );
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#dispose();
  }
}

test("through kill -9 of gateway and log, and a subgraph that is away, every client is told every event once and in order", async () => {
  await using opened = new AsyncDisposableStack();
  const kafka = await startEngine("kafka");
  opened.defer(() => kafka.close());
  const backends = await startBackends(kafka.url);
  opened.defer(() => backends.close());
  const context = testContext("gateway", properties, backends.properties);
  opened.defer(() => context.close());
  const eventLog = await testEventLog(kafka.url, context);

  const port = await freePort();
  const copies = await mkdtemp(join(tmpdir(), "signalbox-copies-"));
  opened.defer(() => rm(copies, { recursive: true, force: true }));
  const ports = { "http.port": port, "internal.port": 0, "management.server.port": 0 };
  const given = { ...backends.properties, ...ports, "config.copy-directory": copies };
  const script = fileURLToPath(new URL("../src/main.ts", import.meta.url));
  const startGateway = async () => {
    const started = startProcess(
      script,
      Object.entries(given).map(([name, value]) => `--${name}=${value}`),
    );
    await started.waitForOutput(/The service is ready/, 120_000);
    return started;
  };
  let gateway = await startGateway();
  opened.defer(async () => void (await gateway.kill()));

  const persons = Array.from({ length: people }, () => testPerson());
  const images = persons.flatMap(({ accountId }) =>
    Array.from({ length: imagesOfEach }, () => ({ accountId, id: newId("img", context.clock.nowMs()) })),
  );
  const numbers = new Map(images.map(({ id }) => [id, 0]));
  /** One page of changes for each image. What the log may have taken before it died is published once more. */
  const publishRound = async (size = pageSize) => {
    const drafts = images.flatMap(({ accountId, id }) =>
      Array.from({ length: size }, () => {
        const number = (numbers.get(id) ?? 0) + 1;
        numbers.set(id, number);
        const data = { ...eventOf("image.updated").example, id, changed: [String(number)] } as never;
        return draft("image.updated", { subject: id, accountId, data });
      }),
    );
    await eventually(
      () =>
        publishEvents({ ...context, eventLog, service: "images" }, drafts).then(
          () => true,
          () => false,
        ),
      {
        timeoutMs: 60_000,
      },
    );
  };

  const followers = persons.flatMap((person) =>
    Array.from({ length: clientsOfEach }, () => new Follower(`ws://127.0.0.1:${port}/graphql`, person)),
  );
  opened.defer(async () => void (await Promise.all(followers.map((follower) => follower.stop()))));
  await eventually(async () => {
    await publishRound(1);
    return followers.every(({ changes }) => changes.length > 0);
  });

  const rounds = Math.ceil(eventsMin / (images.length * pageSize));
  const [firstKill, away, secondKill] = [1, 2, 3].map((part) => Math.floor((part * rounds) / 4));
  const imagesService = backends.subgraphs.get("images") ?? assert.fail();
  for (let round = 0; round < rounds; round++) {
    if (round === firstKill) {
      await gateway.kill();
      await publishRound();
      gateway = await startGateway();
    }
    imagesService.instead = round === away ? (request) => void request.socket.destroy() : null;
    if (round === secondKill) {
      await kafka.kill();
      const restarted = kafka.restart();
      await Promise.all([restarted, publishRound()]);
    }
    await publishRound();
    if (round === away) await eventually(() => followers.every(({ errors }) => errors.has("UNAVAILABLE")));
  }

  const last = (id: string) => String(numbers.get(id));
  const lagging = () =>
    followers.flatMap(({ person, changes }) =>
      images.filter(
        ({ id, accountId }) =>
          accountId === person.accountId &&
          !changes.some(({ imageId, changed }) => imageId === id && changed[0] === last(id)),
      ),
    );
  await eventually(() => lagging().length === 0, { timeoutMs: 90_000, message: "everybody hears the last change" });
  for (const { changes } of followers) {
    const ids = changes.map(({ event }) => event.id);
    assert.equal(new Set(ids).size, ids.length, "no event is told twice");
    for (const [imageId, ofImage] of Map.groupBy(changes, (change) => change.imageId)) {
      const told = ofImage.map(({ changed }) => Number(changed[0]));
      // A page that was published twice is in the log twice, as other events.
      const firsts = told.filter((number, at) => told.indexOf(number) === at);
      const all = Array.from(
        { length: Number(last(imageId)) - (firsts[0] ?? 0) + 1 },
        (_, at) => (firsts[0] ?? 0) + at,
      );
      assert.deepEqual(firsts, all, "every change is told, in the order in which it happened");
    }
  }
});
