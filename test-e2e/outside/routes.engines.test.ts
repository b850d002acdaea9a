import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { detailCodes, errorCodes } from "@signalbox/core";
import { eventually, readFixture } from "@signalbox/testing";
import { type Answer, type Client, createClient, expectStatus, photoForm } from "../journey/client.ts";
import { startEmbeddedIn } from "../systems/embedded-system.ts";
import { unlimited } from "../systems/system.ts";
import { type PublishedRoute, publishedRoutes } from "./published-routes.ts";

const opened = new AsyncDisposableStack();
let baseUrl: string;
let send: Client;
let routes: PublishedRoute[];
/** Ids by the beginning of their paths. */
let things: (readonly [prefix: string, id: string])[];

before(async () => {
  const system = await startEmbeddedIn(opened, unlimited);
  baseUrl = system.baseUrl;
  send = createClient(baseUrl, system.apiKey);
  routes = await publishedRoutes(system);
  things = await makeThings();
});
after(() => opened.disposeAsync());

async function makeThings(): Promise<typeof things> {
  const form = photoForm(await readFixture("photo.jpg"));
  const source = { name: "Partner", scheme: "standard-webhooks", secret: `whsec_${"A".repeat(32)}` };
  const endpoint = { url: "https://example.com/", event_types: ["image.*"] };
  const idOf = async (path: string, body: unknown) => expectStatus(await send(path, { body }), 201).json.id as string;
  return [
    ["/images/", await idOf("/images", form)],
    ["/api/v1/webhooks/sources/", await idOf("/api/v1/webhooks/sources", source)],
    ["/api/v1/webhooks/endpoints/", await idOf("/api/v1/webhooks/endpoints", endpoint)],
  ];
}

const filledWith = (path: string, value: string): string => path.replace(/\{[^}]+\}/g, value);

test("the pages of every list together are the list, by limit and cursor", async () => {
  const lists = routes.filter(({ listParameters }) => listParameters !== null);
  assert.ok(lists.length > 10, "the documents say which routes are lists");
  for (const { path, listParameters } of lists) {
    assert.deepEqual([path, listParameters?.includes("limit"), listParameters?.includes("cursor")], [path, true, true]);
    const at = filledWith(path, things.find(([prefix]) => path.startsWith(prefix))?.[1] ?? "none");
    if ((await send(`${at}?limit=5`)).status === 404) continue;
    const readPages = async () => {
      const paged: string[] = [];
      let cursor: string | undefined;
      do {
        const page = expectStatus(await send(`${at}?limit=1${cursor === undefined ? "" : `&cursor=${cursor}`}`), 200);
        paged.push(...itemsOf(page));
        cursor = page.json.next_cursor;
      } while (cursor !== undefined && paged.length < 5);
      return paged;
    };
    // The audit's entries of other services come over Kafka: until the last is there, two readings may differ.
    await eventually(
      async () => {
        const whole = itemsOf(expectStatus(await send(`${at}?limit=5`), 200));
        return isDeepStrictEqual(await readPages(), whole) || null;
      },
      { message: `the pages of ${path} are its list` },
    );
  }
});

const itemsOf = ({ json: { items } }: Answer): string[] =>
  items.map((item: { id?: string; name?: string }) => JSON.stringify(item.id ?? item.name ?? item));

test("every route ignores parameters of Accept", async () => {
  for (const { path, methods } of routes.filter((one) => one.methods.includes("get"))) {
    if (methods.includes("options")) continue; // an address of webhook senders
    const [plain, described] = ["application/json", "application/json; charset=utf-8"].map((accept) =>
      send(filledWith(path, "none"), { headers: { accept } }),
    );
    assert.deepEqual([path, (await described)?.status], [path, (await plain)?.status]);
  }
});

test("a body whose members may all be absent may be absent itself, on every route", async () => {
  const open = routes.filter(({ mayBeEmpty }) => mayBeEmpty);
  assert.ok(open.length > 1, "the documents say which bodies need nothing");
  for (const { path, needBody } of open) {
    assert.ok(!needBody.includes("post"), path);
    const absent = await send(filledWith(path, "none"), { method: "POST" });
    const empty = await send(filledWith(path, "none"), { method: "POST", body: {} });
    for (const { status } of [absent, empty]) assert.ok(status !== 400 && status !== 415, `${path} ${status}`);
    // What the first one has begun may refuse the second.
    if (empty.status === 409) continue;
    assert.deepEqual([path, absent.status, absent.json?.error?.code], [path, empty.status, empty.json?.error?.code]);
  }
});

test("the page that every error links to explains every code", async () => {
  const refusal = expectStatus(await send("/images?unknown=1"), 400).json.error;
  const answer = await fetch(new URL(refusal.doc_url, `${baseUrl}/images`), { headers: { accept: "text/html" } });
  assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
  const page = await answer.text();
  for (const code of [...errorCodes, ...detailCodes]) assert.ok(page.includes(` id="${code}">`), code);
});
