import assert from "node:assert/strict";
import {
  createMailbox,
  createOidcIssuer,
  createReceiver,
  eventually,
  readFixture,
  serveListener,
} from "@signalbox/testing";
import { createClient, expectStatus } from "../journey/client.ts";
import type { System } from "../systems/system.ts";
import { trusting } from "../systems/trusted-people.ts";
import { createPlants, plantEverything, type Scene } from "./plants.ts";
import { listBlobs, type Stores, searchEverywhere } from "./search.ts";

/** A system whose time can be moved. */
interface Stage extends Stores {
  system(): System;
  /** Lets weeks pass: all stored data gets older, expired log records are deleted, and all processes restart. */
  passTime(): Promise<void>;
}

/** The remains of a purged account, by contract: its opaque id, in these places only. */
const stays: Readonly<Record<string, string>> = {
  accounts: "the tombstone: that an account was, when it came and when it went",
  audit_entries:
    "that something was done and when, until the retention of the audit; of administrators who did it and why",
  property_overrides: "who set what is in force, without the reason",
  property_revisions: "the history of the configuration, without the reason",
  "signalbox.config.v1": "who set what is in force, without the reason",
};

/** Longer than a start with all its migrations on a busy machine, and than a worker's longest pause. */
const settledMs = 120_000;

type Start = (properties: Readonly<Record<string, string>>) => Promise<Stage>;

/** Plants, deletes, waits for the purge to end everywhere, and searches. */
export async function leavesNothing(opened: AsyncDisposableStack, start: Start): Promise<void> {
  const { stage, scene, accountId } = await openScene(opened, start);
  const { plants, send } = scene;
  await plantEverything(scene);
  await settles(async () => {
    const found = await searchEverywhere(stage, plants.shown);
    const missing = [...plants.shown.keys()].filter((name) => !found.some((place) => place.endsWith(`: ${name}`)));
    assert.deepEqual(missing, [], "what was planted is found while the account is there");
  });
  assert.notDeepEqual(await listBlobs(stage), []);

  await send("/api/account/", { method: "DELETE" });
  await stage.passTime();
  await settles(() => everyServiceFollows(stage, accountId));
  // Removes unreferenced bytes and the entries that block remaining credentials, and then the tombstones of those.
  await stage.passTime();
  await settles(async () => assert.deepEqual(await listBlobs(stage), [], "no blob is left"));
  await settles(async () => assert.ok(!(await placesOf(stage, accountId)).includes("access_entries")));
  await stage.passTime();
  await settles(async () => {
    assert.deepEqual(await searchEverywhere(stage, plants.all), [], "nothing that was planted is left");
    const places = await placesOf(stage, accountId);
    assert.deepEqual(places, Object.keys(stays).sort(), "the account's id is where it has to be");
  });
}

/** Starts a system that trusts an issuer, with a person who has just signed in, and their tools. */
async function openScene(opened: AsyncDisposableStack, start: Start) {
  const [issuer, mailbox, receiver, photo] = await Promise.all([
    createOidcIssuer(),
    createMailbox(),
    createReceiver(),
    readFixture("photo.jpg"),
  ]);
  const photos = await serveListener((_request, response) => void response.end(photo));
  for (const one of [issuer, mailbox, receiver, photos]) opened.defer(() => one.close());
  const stage = await start({
    ...trusting(issuer),
    "mail.url": mailbox.url,
    "images.import.allow": "127.0.0.1:*",
    "webhook-delivery.outbound.allow": "127.0.0.1:*",
  });
  const plants = createPlants();
  const [thanks, trouble] = [plants.text("answer"), plants.text("failure")];
  receiver.answer(({ path }) => (path.startsWith("/good") ? { body: thanks } : { status: 500, body: trouble }));

  const tokenOf = (claims: object) =>
    issuer.sign({ auth_time: Math.floor(Date.now() / 1000), ...claims }, { expiresInSeconds: 900 });
  const address = `${plants.text("claimed-address")}@example.org`;
  const token = tokenOf({
    sub: plants.text("subject"),
    jti: plants.text("token-id"),
    name: plants.text("claimed-name"),
    email: address,
    email_verified: true,
    preferred_username: plants.secret("username"),
    roles: ["admin"],
  });
  const tryTo: Scene["tryTo"] = (headers, path, request = {}) =>
    createClient(stage.system().baseUrl)(path, { ...request, headers: { ...headers, ...request.headers } });
  const send: Scene["send"] = async (path, request) => {
    const answer = await tryTo({ authorization: `Bearer ${token}` }, path, request);
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${answer.bytes}`);
    return answer;
  };
  const freshToken = () => tokenOf({ sub: plants.text("second-subject"), jti: plants.secret("second-token-id") });
  const scene: Scene = { plants, send, tryTo, address, mailbox, receiver, photo, photoUrl: photos.url, freshToken };
  const accountId: string = (await send("/api/account/")).json.id;
  return { stage, scene, accountId };
}

const settles = (check: () => Promise<void>) => eventually(check, { timeoutMs: settledMs });

async function everyServiceFollows(stage: Stage, accountId: string): Promise<void> {
  const administrator = createClient(stage.system().baseUrl, stage.system().apiKey);
  const { purged_at } = expectStatus(await administrator(`/api/accounts/${accountId}`), 200).json;
  assert.notEqual(purged_at, null);
  const tables = (await placesOf(stage, accountId)).filter((place) => !place.startsWith("signalbox."));
  const late = tables.filter((place) => !(place in stays) && place !== "access_entries");
  assert.deepEqual(late, [], "every service follows");
}

/** Lists the tables and topics that contain the id; a partitioned table counts as one. */
async function placesOf(stage: Stores, accountId: string): Promise<string[]> {
  const places = (await searchEverywhere(stage, new Map([["account", accountId]]))).map((found) => {
    const [place = ""] = found.split(": ");
    return place.replace(/^\S+ (public|signalbox)\./, "").replace(/_p?\d+.*$/, "");
  });
  return [...new Set(places)].filter((place) => place !== "log_record").sort();
}
