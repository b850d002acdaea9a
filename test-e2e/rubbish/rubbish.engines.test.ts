import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { detailCodes, errorCodes } from "@signalbox/core";
import { createOidcIssuer, eventually, type OidcIssuer, readFixture } from "@signalbox/testing";
import { type Answer, type ClientRequest, createClient, expectStatus } from "../journey/client.ts";
import { type EmbeddedSystem, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { expectNoFault, expectRefusal, isOfRegistry } from "./expect-refusal.ts";
import { type PublishedRoute, publishedRoutes } from "./published-routes.ts";
import { rubbishBodies, rubbishOperations, rubbishQueries, rubbishSegments } from "./rubbish-input.ts";

const opened = new AsyncDisposableStack();
let system: EmbeddedSystem;
let issuer: OidcIssuer;
let routes: PublishedRoute[];
/** Ids by the beginning of their paths. */
let things: (readonly [prefix: string, id: string])[];

before(async () => {
  issuer = await createOidcIssuer();
  opened.defer(() => issuer.close());
  const trusted = [{ name: "tests", issuer: issuer.issuer, audience: issuer.audience }];
  system = await startEmbeddedSystem({
    properties: {
      "auth.issuers": JSON.stringify(trusted),
      // The test sends more in a second than a person in a day; refusals must come from the input, not from rate
      // limits.
      "http.rate-limit.credential.requests": "1000000",
      "http.rate-limit.credential.burst": "1000000",
      "http.rate-limit.account.requests": "1000000",
      "http.rate-limit.anonymous.requests": "1000000",
      "http.rate-limit.failed-sign-in.requests": "1000000",
      "graphql.limits.cost-window": "1000000",
    },
  });
  opened.defer(() => removeData(system));
  opened.defer(async () => void (await system.process.kill()));
  routes = await publishedRoutes(system);
  assert.ok(routes.length > 30, "the documents list the product's routes");
  things = await makeThings();
});
after(() => opened.disposeAsync());

async function makeThings(): Promise<typeof things> {
  const send = createClient(system.baseUrl, system.apiKey);
  const form = new FormData();
  form.set("file", new Blob([await readFixture("photo.jpg")], { type: "image/jpeg" }), "photo.jpg");
  const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
  const source = { name: "Partner", scheme: "standard-webhooks", secret };
  const endpoint = { url: "https://example.com/", event_types: ["image.*"] };
  const idOf = async (path: string, body: unknown) => expectStatus(await send(path, { body }), 201).json.id as string;
  const sourceId = await idOf("/api/v1/webhooks/sources", source);
  return [
    ["/images/", await idOf("/images", form)],
    ["/ingest/", sourceId],
    ["/api/v1/webhooks/sources/", sourceId],
    ["/api/v1/webhooks/endpoints/", await idOf("/api/v1/webhooks/endpoints", endpoint)],
  ];
}

/** Fills a path with existing ids: a missing resource is refused before its body is read. */
function filled(path: string): string {
  const [, real] = things.find(([prefix]) => path.startsWith(prefix)) ?? ["", "rubbish"];
  return filledWith(path, real);
}

const filledWith = (path: string, value: string): string => path.replace(/\{[^}]+\}/g, value);

/** Sends all requests, several at a time, and expects each to be refused. */
async function allRefused(requests: readonly { path: string; request: ClientRequest; what: string }[]): Promise<void> {
  assert.ok(requests.length > 0);
  const send = createClient(system.baseUrl, system.apiKey);
  const rest = [...requests];
  const problems: string[] = [];
  const work = async () => {
    for (let next = rest.pop(); next; next = rest.pop()) {
      const name = `${next.request.method} ${next.path.slice(0, 120)} with ${next.what}`;
      const path = next.path.split("?")[0] as string;
      await send(next.path, next.request)
        .then((answer) => expectRefusal(answer, name, path))
        .catch((error: Error) => problems.push(`${name}: ${error.message} ${error.cause ?? ""}`));
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  assert.deepEqual(problems, []);
}

test("a rubbish body is refused by every route that writes", async () => {
  await allRefused(
    routes.flatMap(({ path, methods, needBody }) =>
      methods
        .filter((method) => ["post", "put", "patch"].includes(method))
        .flatMap((method) =>
          rubbishBodies
            .filter(({ bytes }) => bytes.length > 0 || needBody.includes(method))
            .map(({ what, type, bytes: body }) => ({
              path: filled(path),
              what,
              request: { method: method.toUpperCase(), body, headers: type === null ? {} : { "content-type": type } },
            })),
        ),
    ),
  );
});

test("a rubbish query is refused by every route", async () => {
  await allRefused(
    routes
      .filter(({ path }) => !isOfRegistry(path))
      .flatMap(({ path, methods }) =>
        methods.flatMap((method) =>
          rubbishQueries.map((query) => ({
            path: `${filled(path)}${query}`,
            what: "this query",
            request: { method: method.toUpperCase() },
          })),
        ),
      ),
  );
});

test("rubbish in a path is refused by every route", async () => {
  await allRefused(
    routes
      .filter(({ path }) => path.includes("{"))
      .flatMap(({ path, methods }) =>
        methods.flatMap((method) =>
          rubbishSegments.map((segment) => ({
            path: filledWith(path, segment),
            what: "this path",
            request: { method: method.toUpperCase() },
          })),
        ),
      ),
  );
});

test("the pages of every list together are the list, by limit and cursor", async () => {
  const send = createClient(system.baseUrl, system.apiKey);
  const lists = routes.filter(({ listParameters }) => listParameters !== null);
  assert.ok(lists.length > 10, "the documents say which routes are lists");
  for (const { path, listParameters } of lists) {
    assert.deepEqual([path, listParameters?.includes("limit"), listParameters?.includes("cursor")], [path, true, true]);
    const at = filled(path);
    if ((await send(`${at}?limit=5`)).status === 404) continue;
    const idsOf = ({ json }: Answer) => expectList(json).map((item) => JSON.stringify(item.id ?? item.name ?? item));
    const readPages = async () => {
      const paged: string[] = [];
      let cursor: string | undefined;
      do {
        const page = expectStatus(await send(`${at}?limit=1${cursor === undefined ? "" : `&cursor=${cursor}`}`), 200);
        paged.push(...idsOf(page));
        cursor = page.json.next_cursor;
      } while (cursor !== undefined && paged.length < 5);
      return paged;
    };
    // The audit's entries of other services come over Kafka: until the last is there, two readings may differ.
    await eventually(
      async () => {
        const whole = idsOf(expectStatus(await send(`${at}?limit=5`), 200));
        return isDeepStrictEqual(await readPages(), whole) || null;
      },
      { message: `the pages of ${path} are its list` },
    );
  }
});

interface Listed {
  readonly id?: string;
  readonly name?: string;
}

function expectList(json: { readonly items: readonly Listed[] }): readonly Listed[] {
  assert.ok(Array.isArray(json.items));
  return json.items;
}

test("every route tells its methods, ignores parameters of Accept and names a credential in its query", async () => {
  const anonymous = createClient(system.baseUrl);
  const send = createClient(system.baseUrl, system.apiKey);
  for (const { path, methods } of routes) {
    const at = filledWith(path, "rubbish");
    // Webhook senders use OPTIONS and queries of their own there: an unknown one gets no information.
    if (methods.includes("options")) {
      expectStatus(await anonymous(at, { method: "OPTIONS" }), 404);
      continue;
    }
    const { headers } = expectStatus(await anonymous(at, { method: "OPTIONS" }), 204);
    const allowed = headers.get("allow")?.toLowerCase().split(", ") ?? [];
    assert.deepEqual([path, methods.filter((method) => !allowed.includes(method))], [path, []]);
    if (!methods.includes("get")) continue;
    const [plain, described] = [{ accept: "application/json" }, { accept: "application/json; charset=utf-8" }];
    const { status } = await send(at, { headers: plain });
    assert.deepEqual([path, (await send(at, { headers: described })).status], [path, status]);
    if (isOfRegistry(path)) continue;
    const told = expectStatus(await anonymous(`${at}?access_token=x`), 400);
    const { details } = path === "/graphql" ? told.json.errors[0].extensions : told.json.error;
    assert.deepEqual([path, details[0].code], [path, "credential_in_query"]);
  }
});

test("a method that a route does not have is refused with the ones it has", async () => {
  const send = createClient(system.baseUrl, system.apiKey);
  for (const { path } of routes) {
    const answer = await send(filled(path), { method: "PROPFIND" });
    expectRefusal(answer, `PROPFIND ${path}`, path);
    expectStatus(answer, 405);
  }
});

test("rubbish in any argument of the graph is refused by name, as a variable or as a literal", async () => {
  const send = createClient(system.baseUrl, system.apiKey);
  const rest = await rubbishOperations(send);
  assert.ok(rest.length > 300, `${rest.length} operations`);
  const problems: string[] = [];
  const work = async () => {
    for (let next = rest.pop(); next; next = rest.pop()) {
      const { what, body } = next;
      const headers = { "content-type": "application/json" };
      await send("/graphql", { body: Buffer.from(body), headers })
        .then((answer) => expectNoFault(answer, what))
        .catch((error: Error) => problems.push(`${what}: ${error.message}`));
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  assert.deepEqual(problems, []);
});

test("a body whose members may all be absent may be absent itself, on every route", async () => {
  const send = createClient(system.baseUrl, system.apiKey);
  const open = routes.filter(({ mayBeEmpty }) => mayBeEmpty);
  assert.ok(open.length > 1, "the documents say which bodies need nothing");
  for (const { path, needBody } of open) {
    assert.ok(!needBody.includes("post"), path);
    const absent = await send(filledWith(path, "rubbish"), { method: "POST" });
    const empty = await send(filledWith(path, "rubbish"), { method: "POST", body: {} });
    assert.deepEqual([path, absent.status, absent.json?.error?.code], [path, empty.status, empty.json?.error?.code]);
    assert.ok(absent.status !== 400 && absent.status !== 415, path);
  }
});

test("the page that every error links to explains every code", async () => {
  const send = createClient(system.baseUrl, system.apiKey);
  const refusal = expectStatus(await send("/images?unknown=1"), 400).json.error;
  const answer = await fetch(new URL(refusal.doc_url, `${system.baseUrl}/images`), {
    headers: { accept: "text/html" },
  });
  assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
  const page = await answer.text();
  for (const code of [...errorCodes, ...detailCodes]) assert.ok(page.includes(` id="${code}">`), code);
});

test("the same rubbish leaves the system as it was: it still works", async () => {
  const send = createClient(system.baseUrl, system.apiKey);
  for (const path of ["/api/account/", "/images", "/api/v1/config/", "/api/v1/webhooks/endpoints"]) {
    expectStatus(await send(path), 200);
  }
  assert.doesNotMatch(system.process.stdout, /"level":"error"/, "none of it was taken for a fault of ours");
});

test("a good token of the issuer is believed by every service, also with a sign-in that no calendar has", async () => {
  const odd = [253_402_300_800, 8.64e12 + 1, 1e300].map((time) => issuer.sign({ auth_time: time }));
  for (const token of [issuer.sign(), ...odd]) {
    for (const path of ["/api/account/", "/images", "/api/v1/config/", "/api/v1/webhooks/endpoints"]) {
      expectStatus(await bearer(token, path), 200);
    }
  }
});

const bearer = (token: string, path: string): Promise<Answer> =>
  createClient(system.baseUrl)(path, { headers: { authorization: `Bearer ${token}` } });
