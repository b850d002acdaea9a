import assert from "node:assert/strict";
import { test } from "node:test";
import { createOidcIssuer } from "@signalbox/testing";
import type { Finding } from "../runner/attack.ts";
import { plantedAnswer } from "../runner/http-attack.ts";
import { within } from "./counted.ts";
import { unknown } from "./credentials.ts";
import { missingTo, showsNothingOf } from "./cross-account.ts";
import { givesNobody } from "./first-links.ts";
import { isLetIn } from "./foreign-origins.ts";
import { refused } from "./graphql.ts";
import { isRefused } from "./hostile-servers.ts";
import { guarding, isPrivate } from "./http.ts";
import { jwtForgeries } from "./jwt-forgeries.ts";
import { keyForgeries } from "./key-forgeries.ts";
import { givesNoMessage } from "./leases.ts";
import { waitsLittle } from "./neighbours.ts";
import { givesNothing } from "./oauth-arrivals.ts";
import { isNoToken } from "./oauth-grants.ts";
import { stepUpAsked } from "./scopes.ts";
import { finds } from "./secrets.ts";
import { provesNothing } from "./sender-certificates.ts";
import { isRepelled } from "./smuggling.ts";
import { neverReached } from "./ssrf.ts";
import { hasNoSteps } from "./why.ts";

const error = (status: number, code: string, more: object = {}) => plantedAnswer(status, { error: { code, ...more } });
const graphError = (code: string) => plantedAnswer(200, { data: null, errors: [{ extensions: { code } }] });
const guards = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=()",
};
const planted = { what: "a secret", secret: "Planted0123456789abcdef", answer: null };

/** By group: a judge, evidence that it accepts, and the weaknesses that it must find. */
const table: readonly Row<never>[] = [
  row("credentials", unknown, {
    good: [error(401, "unauthorized"), graphError("UNAUTHENTICATED")],
    weak: [
      plantedAnswer(200),
      plantedAnswer(204),
      error(403, "forbidden"),
      error(404, "not_found"),
      error(500, "server_error"),
      error(503, "unavailable"),
    ],
  }),
  row("sender-certificates", provesNothing, {
    good: [
      { status: 401, received: 1, visits: 0, bytes: 1_024 },
      { status: 503, received: 0, visits: 0, bytes: 65_536 },
    ],
    weak: [
      { status: 202, received: 1, visits: 0, bytes: 0 },
      { status: 500, received: 0, visits: 0, bytes: 0 },
      { status: 401, received: 2, visits: 0, bytes: 0 },
      { status: 401, received: 0, visits: 1, bytes: 0 },
      { status: 503, received: 0, visits: 0, bytes: 64 * 1024 * 1024 },
    ],
  }),
  row("leases", givesNoMessage("not_found"), {
    good: [error(404, "not_found")],
    weak: [
      plantedAnswer(200, { items: [] }),
      error(404, "not_found", { message: "a letter for the victim" }),
      error(409, "conflict"),
      error(500, "server_error"),
    ],
  }),
  row("why and operations", hasNoSteps, {
    good: [plantedAnswer(200, { data: { why: [] } })],
    weak: [
      plantedAnswer(200, { data: { why: [{ what: "The image was stored." }] } }),
      plantedAnswer(200, { data: { why: null } }),
      graphError("INTERNAL"),
      error(500, "server_error"),
    ],
  }),
  row("cross-account", missingTo(["victim@example.org"]), {
    good: [
      error(404, "not_found"),
      graphError("NOT_FOUND"),
      plantedAnswer(200, { data: { renameApiKey: { errors: [{ field: "id" }] } } }),
    ],
    weak: [
      plantedAnswer(200),
      error(404, "not_found", { message: "victim@example.org" }),
      plantedAnswer(200, { data: { renameApiKey: { errors: [] } } }),
      error(500, "server_error"),
      error(409, "conflict"),
    ],
  }),
  row("cross-account, lists", showsNothingOf(["img_victim"]), {
    good: [plantedAnswer(200, { items: [] }), error(403, "forbidden")],
    weak: [plantedAnswer(200, { items: [{ id: "img_victim" }] }), error(500, "server_error")],
  }),
  row("scopes", stepUpAsked, {
    good: [error(403, "forbidden", { details: [{ code: "step_up_required" }] })],
    weak: [error(403, "forbidden"), plantedAnswer(200), plantedAnswer(200, { note: "step_up_required" })],
  }),
  row("ssrf", neverReached, {
    good: [{ answer: error(422, "validation_error"), isReached: false }],
    weak: [
      { answer: error(422, "validation_error"), isReached: true },
      { answer: plantedAnswer(201), isReached: false },
      { answer: plantedAnswer(500), isReached: false },
      { answer: error(404, "not_found"), isReached: false },
    ],
  }),
  row("hostile-servers", isRefused, {
    good: [{ status: 502, bytes: 65_536, text: "" }],
    weak: [
      { status: 502, bytes: 2 ** 28, text: "" },
      { status: 201, bytes: 0, text: "" },
      { status: 500, bytes: 0, text: "" },
    ],
  }),
  row("graphql", refused, {
    good: [graphError("VALIDATION_FAILED"), error(415, "unsupported_media_type")],
    weak: [plantedAnswer(200, { data: {} }), graphError("INTERNAL")],
  }),
  row("http, headers", guarding, {
    good: [plantedAnswer(401, {}, guards)],
    weak: [
      plantedAnswer(401),
      plantedAnswer(500, {}, guards),
      plantedAnswer(200, {}, { ...guards, "x-powered-by": "x" }),
      plantedAnswer(200, { at: "/app/x.ts:12" }, guards),
      plantedAnswer(200, {}, { ...guards, "set-cookie": "a=b" }),
    ],
  }),
  row("http, caches", isPrivate, {
    good: [
      plantedAnswer(200, {}, { "cache-control": "private, no-cache", vary: "Authorization, X-API-Key" }),
      plantedAnswer(200, {}, { "cache-control": "no-store" }),
    ],
    weak: [
      plantedAnswer(200),
      plantedAnswer(200, {}, { "cache-control": "public, max-age=60" }),
      plantedAnswer(200, {}, { "cache-control": "private", vary: "Accept" }),
    ],
  }),
  row("http, origins", isLetIn, {
    good: [plantedAnswer(204), error(401, "unauthorized")],
    weak: [
      plantedAnswer(204, {}, { "access-control-allow-origin": "*" }),
      plantedAnswer(204, {}, { "access-control-allow-origin": "https://evil.example" }),
    ],
  }),
  row("http, smuggling", isRepelled, {
    good: [
      { statuses: [400], text: "" },
      { statuses: [], text: "" },
    ],
    weak: [{ statuses: [401, 200], text: "x" }],
  }),
  row("oauth, tokens", isNoToken, {
    good: [plantedAnswer(400, { error: "invalid_grant" })],
    weak: [
      plantedAnswer(200, { access_token: "x" }),
      plantedAnswer(500, { error: "server_error" }),
      error(404, "not_found"),
      plantedAnswer(400),
    ],
  }),
  row("oauth, pages", givesNothing(["https://us.example"]), {
    good: [{ status: 400, url: "https://us.example/oauth", text: "no" }],
    weak: [
      { status: 303, url: "https://evil.example/?code=a", text: "" },
      { status: 303, url: "https://evil.example/", text: "" },
      { status: 303, url: "https://us.example/back#access_token=a", text: "" },
      { status: 200, url: "https://us.example/", text: "<script>" },
      { status: 500, url: "https://us.example/", text: "" },
    ],
  }),
  row("oauth, first links", givesNobody(true), {
    good: [{ status: 422, text: "", isSignedIn: false, isOpen: true }],
    weak: [
      { status: 200, text: "", isSignedIn: true, isOpen: true },
      { status: 410, text: "", isSignedIn: false, isOpen: false },
      { status: 500, text: "", isSignedIn: false, isOpen: true },
    ],
  }),
  row("neighbours", waitsLittle, {
    good: [
      { quietMs: 10, besideMs: 15 },
      { quietMs: 50, besideMs: 900 },
    ],
    weak: [
      { quietMs: 10, besideMs: 2_500 },
      { quietMs: 200, besideMs: 30_000 },
    ],
  }),
  row("limits", within(5), {
    good: [{ answered: 5, refused: 1 }],
    weak: [
      { answered: 6, refused: 1 },
      { answered: 5, refused: 0 },
    ],
  }),
  row("secrets", finds(planted), {
    good: ["nothing of it", planted.secret.slice(0, 12)],
    weak: [
      planted.secret,
      Buffer.from(`u:${planted.secret}`).toString("base64"),
      Buffer.from(planted.secret).toString("hex"),
    ],
  }),
];

interface Row<Evidence> {
  readonly group: string;
  readonly judge: (evidence: Evidence) => Finding;
  readonly good: readonly Evidence[];
  readonly weak: readonly Evidence[];
}

function row<Evidence>(
  group: string,
  judge: (evidence: Evidence) => Finding,
  given: { good: readonly Evidence[]; weak: readonly Evidence[] },
): Row<never> {
  return { group, judge, ...given } as unknown as Row<never>;
}

for (const { group, judge, good, weak } of table) {
  test(`${group}: every planted weakness is found, none in a system that does well`, () => {
    for (const evidence of good) assert.equal(judge(evidence), null);
    for (const evidence of weak) assert.notEqual(judge(evidence), null, JSON.stringify(evidence));
  });
}

test("no forged token or key is the good one by chance", async () => {
  const issuer = await createOidcIssuer();
  const tokens = await jwtForgeries(issuer, { sub: "victim", roles: ["admin"] });
  await issuer.close();
  assert.ok(tokens.size > 80, `${tokens.size} tokens`);
  assert.equal(new Set(tokens.values()).size, tokens.size);
  const key = "sbx_dev_It7C6tL1DcrypFenXv2uMyGvxZM7He1yMk6b";
  const inHeaders = [...keyForgeries(key)].filter(
    ([, { "x-api-key": given, authorization }]) => given === key || authorization === `Bearer ${key}`,
  );
  assert.deepEqual(inHeaders, []);
});
