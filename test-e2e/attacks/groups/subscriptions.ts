import type { Headers } from "../../audit/world.ts";
import type { Answer, ClientRequest } from "../../journey/client.ts";
import { type Attack, type Control, control } from "../runner/attack.ts";
import { httpAttack, plantedAnswer, refusedAs, shown } from "../runner/http-attack.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import { friendlyOrigin } from "../scene/trusting-scene.ts";

export const subscriptionFields = [
  "accountChanged",
  "imageChanged",
  "webhookReceived",
  "webhookRejected",
  "deliveryAttempted",
  "configChanged",
] as const;
type Field = (typeof subscriptionFields)[number];
/** Everyone who can read the configuration may follow it. */
const personal = subscriptionFields.filter((field) => field !== "configChanged");
export const documentOf = (field: Field) => `subscription { ${field} { cursor event { id } } }`;

const stream = "text/event-stream";
const opened = plantedAnswer(200, "", { "content-type": stream });
const planted = [opened, plantedAnswer(500, { error: { code: "server_error" } })];

/** Subscriptions that must be refused. Other tests check that events reach their owner only. */
export async function subscriptionRows({ system, person, world }: TrustingScene): Promise<Attack[]> {
  const { headers } = await person();
  const key = { name: "narrow", scopes: ["account:read"] };
  const narrow = { "x-api-key": (await world.send(headers, "/api/account/api-keys/", { body: key })).json.key };
  const send = (path: string, request: ClientRequest = {}) => openStream(system.baseUrl, path, request);
  const controlOf = (field: Field): Control =>
    control({
      what: `${field} by its owner`,
      attempt: () => send("/graphql", asked(headers, { query: documentOf(field) })),
      judge: (answer) => (answer.status === 200 && isStream(answer) ? null : shown(answer)),
      planted: [plantedAnswer(401), plantedAnswer(500)],
    });
  const controls = new Map(subscriptionFields.map((field) => [field, controlOf(field)]));
  const row = (field: Field, what: string, request: ClientRequest, ...codes: string[]): Attack => {
    const plain = controls.get(field) ?? controlOf(field);
    const judged = { must: "be refused before a stream begins", judge: refusedAs(...codes), planted };
    return httpAttack({ send, path: "/graphql", request, control: plain, what: `${field} ${what}`, ...judged });
  };
  const cursor = await cursorOf(system.baseUrl, headers);
  return [
    ...personal.map((field) => row(field, "of nobody", asked({}, { query: documentOf(field) }), "unauthenticated")),
    ...personal.map((field) =>
      row(
        field,
        "with a bad key",
        asked({ "x-api-key": "sbx_dev_x" }, { query: documentOf(field) }),
        "unauthenticated",
      ),
    ),
    ...(["imageChanged", "webhookReceived", "webhookRejected", "deliveryAttempted"] as const).map((field) =>
      row(field, "without its scope", asked(narrow, { query: documentOf(field) }), "forbidden"),
    ),
    ...subscriptionFields.flatMap((field) =>
      Object.entries(forgedCursors(field, cursor)).flatMap(([what, resumeAfter]) => {
        const query = documentOf(field);
        const byHeader = { ...headers, "last-event-id": String(resumeAfter) };
        return [
          row(field, `after ${what}`, asked(headers, { query, extensions: { resumeAfter } }), ...badCursor),
          ...(typeof resumeAfter === "string"
            ? [row(field, `after ${what} by header`, asked(byHeader, { query }), ...badCursor)]
            : []),
        ];
      }),
    ),
    ...subscriptionFields.flatMap((field) =>
      Object.entries(oddForms(field)).map(([what, request]) =>
        row(field, what, { ...request, headers: { ...headers, accept: stream, ...request.headers } }, ...oddCodes),
      ),
    ),
  ];
}

const badCursor = ["validation_failed", "invalid_request"];
const oddCodes = ["validation_failed", "invalid_request", "method_not_allowed", "forbidden", "unsupported_media_type"];

const asked = (headers: Headers, body: unknown): ClientRequest => ({
  method: "POST",
  headers: { ...headers, accept: stream, origin: friendlyOrigin },
  body,
});

/** Cursors that were never issued, or not for this subscription. */
function forgedCursors(field: Field, given: string): Readonly<Record<string, unknown>> {
  const middle = Math.floor(given.length / 2);
  const turned = given[middle] === "A" ? "B" : "A";
  return {
    "no cursor": "x",
    "an offset": "0",
    ...(field !== "accountChanged" && { "the cursor of another subscription": given }),
    "a cursor with a bit turned": `${given.slice(0, middle)}${turned}${given.slice(middle + 1)}`,
    "a cursor cut short": given.slice(0, -8),
    "a cursor of 12 KB": "A".repeat(12_000),
    "a number": 7,
    "a list of cursors": [given],
    "a path": "../../../etc/passwd",
  };
}

/** Invalid forms of a subscription. */
function oddForms(field: Field): Readonly<Record<string, ClientRequest>> {
  const query = documentOf(field);
  return {
    "twice in one operation": {
      method: "POST",
      body: { query: `subscription { a: ${field} { cursor } b: ${field} { cursor } }` },
    },
    "beside its type's name": { method: "POST", body: { query: `subscription { __typename ${field} { cursor } }` } },
    "left out by a directive": {
      method: "POST",
      body: { query: `subscription { ${field} @skip(if: true) { cursor } }` },
    },
    "as an answer of JSON": { method: "POST", headers: { accept: "application/json" }, body: { query } },
    "as a form": {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: Buffer.from(new URLSearchParams({ query }).toString()),
    },
    "as plain text": { method: "POST", headers: { "content-type": "text/plain" }, body: Buffer.from(query) },
    "of a field that is not there": { method: "POST", body: { query: `subscription { ${field} { secret } }` } },
  };
}

const isStream = ({ headers }: Answer) => (headers.get("content-type") ?? "").startsWith(stream);

/** Reads a refusal whole, and only the head of an opened stream. */
async function openStream(baseUrl: string, path: string, request: ClientRequest): Promise<Answer> {
  const leaving = new AbortController();
  const response = await ask(baseUrl, path, request, leaving.signal);
  const { status, headers } = response;
  if (headers.get("content-type")?.startsWith(stream)) {
    leaving.abort();
    return { status, headers, bytes: Buffer.from("a stream"), json: undefined };
  }
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = headers.get("content-type")?.includes("json") ?? false;
  return { status, headers, bytes, json: isJson ? JSON.parse(bytes.toString("utf8")) : undefined };
}

/** Returns a valid cursor: that of the opening comment. */
export async function cursorOf(baseUrl: string, headers: Headers, field: Field = "accountChanged"): Promise<string> {
  const request = asked(headers, { query: documentOf(field) });
  const response = await ask(baseUrl, "/graphql", request, new AbortController().signal);
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const [, cursor] = /^id: ?(\S+)$/m.exec(text) ?? [];
    if (cursor !== undefined) return cursor;
  }
  throw new Error(`there was no cursor: ${text}`);
}

function ask(baseUrl: string, path: string, { method, headers, body }: ClientRequest, leaving: AbortSignal) {
  const isRaw = body instanceof Buffer;
  return fetch(new URL(path, baseUrl), {
    method: method ?? "GET",
    headers: { ...(!isRaw && { "content-type": "application/json" }), ...headers },
    body: isRaw ? new Uint8Array(body) : JSON.stringify(body),
    signal: AbortSignal.any([leaving, AbortSignal.timeout(30_000)]),
  });
}
