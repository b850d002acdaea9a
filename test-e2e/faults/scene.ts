import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually, readFixture } from "@signalbox/testing";
import { type Answer, type Client, createClient, expectStatus, photoForm } from "../journey/client.ts";
import { type EnginesSystem, services } from "../systems/engines-system.ts";
import type { FaultyEngines, Outage } from "../systems/system-engines.ts";

/** The scene of every fault scenario: a system that has worked before. */
export interface Scene {
  readonly system: EnginesSystem;
  readonly engines: FaultyEngines;
  readonly send: Client;
  readonly imageId: string;
  uploads(name: string): Promise<Answer>;
}

/**
 * Long enough for a busy machine: recovery includes the start of a process, the longest pause between two attempts of
 * every loop on the way, and the lease of a delivery whose instance died.
 */
export const recoveryMs = 120_000;

export async function openScene(system: EnginesSystem, engines: FaultyEngines): Promise<Scene> {
  const send = createClient(system.baseUrl, system.apiKey);
  for (const path of ["/api/account/", "/api/v1/config/", "/graphql?query={viewer{id}}"]) {
    expectStatus(await send(path), 200); // from here on every service has cached this caller
  }
  const uploads = (name: string) => upload(send, name);
  const imageId = expectStatus(await uploads("first"), 201).json.id;
  const scene = { system, engines, send, imageId, uploads };
  await becomesReady(scene, imageId);
  return scene;
}

async function upload(send: Client, name: string): Promise<Answer> {
  const form = photoForm(await readFixture("photo.jpg"));
  form.set("title", name);
  return await send("/images", { body: form });
}

export async function becomesReady({ send }: Scene, imageId: string): Promise<void> {
  await eventually(
    async () => {
      assert.equal(expectStatus(await send(`/images/${imageId}`), 200).json.status, "ready");
    },
    { timeoutMs: recoveryMs, message: `${imageId} is ready` },
  );
}

/** Keeps a caller below its limit. */
const askEveryMs = 250;

/** Expects a refusal with Retry-After. */
export function expectUnavailable(answer: Answer, code = "unavailable"): void {
  expectStatus(answer, 503);
  assert.equal(answer.json.error.code, code);
  assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
}

/** Runs the scenario and checks that no process ended by it. */
export async function withoutRestarts({ system }: Scene, scenario: () => Promise<void>): Promise<void> {
  await scenario();
  for (const name of services) {
    const { current } = system.process(name);
    assert.ok(current.isRunning, `${name} ended:\n${current.stdout.slice(-5_000)}${current.stderr}`);
  }
}

/** Per dependency that a service misses: one line when an outage begins, one every half minute and one at its end. */
const linesMax = 12;

/** Runs the scenario and checks that no service floods its log. */
export async function withFewLines({ system }: Scene, scenario: () => Promise<void>): Promise<void> {
  const before = services.map((name) => system.process(name).current.stdout.length);
  await scenario();
  for (const [index, name] of services.entries()) {
    const lines = system.process(name).current.stdout.slice(before[index]).split("\n");
    const troubles = lines.filter((line) => /"level":"(warn|error)"/.test(line) && !line.includes('"msg":"Request"'));
    assert.ok(troubles.length <= linesMax, `${name} wrote ${troubles.length} lines:\n${troubles.join("\n")}`);
  }
}

/** Starts the outage, runs `meanwhile` for at least `lastsMs`, and ends the outage in every case. */
export async function during(outage: Outage, lastsMs: number, meanwhile: () => Promise<void>): Promise<void> {
  await outage.begin();
  try {
    // The promise is about an outage of this length.
    await Promise.all([meanwhile(), new Promise((resolve) => setTimeout(resolve, lastsMs))]);
  } finally {
    await outage.end();
  }
}

/** Sends requests continuously during the work, as callers do: a share of answers needs many of them. */
export async function whileAsking({ send, imageId }: Scene, work: () => Promise<void>): Promise<void> {
  const ended = new AbortController();
  const asking = (async () => {
    for (let width = 20; !ended.signal.aborted; width++) {
      await send("/images").catch(() => {});
      await send(`/images/${imageId}/content?width=${width}`).catch(() => {});
      await sleep(askEveryMs, undefined, { signal: ended.signal }).catch(() => {});
    }
  })();
  try {
    await work();
  } finally {
    ended.abort();
    await asking;
  }
}
