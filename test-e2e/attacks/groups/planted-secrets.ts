import { randomBytes } from "node:crypto";
import type { Headers } from "../../audit/world.ts";
import { type Answer, type ClientRequest, photoForm } from "../../journey/client.ts";
import type { TrustingScene, Victim } from "../scene/trusting-scene.ts";

/** A secret that was sent to the system. */
export interface Planted {
  readonly what: string;
  readonly secret: string;
  /** The answer to the sender; null when the contract shows the secret once. */
  readonly answer: Answer | null;
}

/** A request in which SECRET stands for the secret. A text is sent as it is, under the type of its headers. */
type Place = readonly [path: string, headers?: Record<string, string>, body?: unknown, method?: string];

/** Places of a request that nobody signed. */
const ofNobody: Readonly<Record<string, Place>> = {
  "a Bearer token": ["/api/account/", { authorization: "Bearer SECRET" }],
  "a Bearer token at images": ["/images", { authorization: "Bearer SECRET" }],
  "an API key": ["/images", { "x-api-key": "SECRET" }],
  "an API key with the right beginning": ["/api/v1/config", { "x-api-key": "sbx_dev_SECRET" }],
  "a Basic password": ["/api/v1/webhooks/sources", { authorization: "Basic user:SECRET" }],
  "a Basic user": ["/api/v1/webhooks/endpoints", { authorization: "Basic SECRET:x" }],
  "an unknown scheme": ["/api/account/", { authorization: "Digest SECRET" }],
  "two credentials": ["/api/account/", { authorization: "Bearer SECRET", "x-api-key": "SECRET" }],
  "access_token in the query": ["/api/account/?access_token=SECRET"],
  "api_key in the query": ["/images?api_key=SECRET"],
  "a signature of a webhook": ["SOURCE", { "x-hub-signature-256": "sha256=SECRET", "x-github-delivery": "a" }, {}],
  "a partner's credential": [
    "SOURCE",
    { authorization: "Bearer SECRET", "x-api-key": "SECRET", cookie: "s=SECRET" },
    {},
  ],
  "the query of a webhook": ["SOURCE?token=SECRET", {}, {}],
};

const keys = "/api/account/api-keys/";
const sources = "/api/v1/webhooks/sources";
const endpoints = "/api/v1/webhooks/endpoints";
const graph = (query: string, variables: object = {}): Place => ["/graphql", {}, { query, variables }];
const typed = (type: string, text: string): Place => ["/api/account/", { "content-type": type }, text, "PATCH"];

/** Places of a request of the owner. */
const ofOwner: Readonly<Record<string, Place>> = {
  "a cookie": ["/api/account/", { cookie: "session=SECRET" }],
  "a proxy's credential": ["/images", { "proxy-authorization": "Bearer SECRET" }],
  "an internal token": ["/api/account/", { "x-signalbox-internal-token": "SECRET" }],
  "an unknown parameter": ["/images?pass=SECRET"],
  "a parameter of the gateway": ["/graphql?query={viewer{id}}&token=SECRET"],
  "the query of a page that refers": ["/api/account/", { referer: "https://app.example/?token=SECRET" }],
  "a token to link": ["/api/account/identities/", {}, { token: "SECRET" }],
  "a wrong code": ["/api/account/step-up/", {}, { code: "SECRET" }],
  "a wrong code of an address": ["/api/account/contact-change/confirm", {}, { code: "SECRET" }],
  ...Object.fromEntries(
    [keys, "/images/import", sources, endpoints, "/api/account/step-up/"].flatMap((path) =>
      ["password", "secret_key", "token"].map((member): [string, Place] => [
        `a member ${member} of POST ${path}`,
        [path, {}, { [member]: "SECRET" }],
      ]),
    ),
  ),
  "a member of PATCH /api/account/": ["/api/account/", {}, { password: "SECRET" }, "PATCH"],
  "a member name": ["/api/account/", {}, { credentials: { SECRET: 1 } }, "PATCH"],
  "a body that is no JSON": typed("application/json", '{"password":"SECRET'),
  "a body of another type": typed("text/plain", "SECRET"),
  "a form": [keys, { "content-type": "application/x-www-form-urlencoded" }, "password=SECRET"],
  "a scheme's secret that does not fit": [sources, {}, { name: "x", scheme: "standard-webhooks", secret: "SECRET" }],
  "a user and password of an import": ["/images/import", {}, { source_url: "https://u:SECRET@photos.example/a.jpg" }],
  "a signature in the address of an import": [
    "/images/import",
    {},
    { source_url: "http://127.0.0.1:9/a.jpg?X-Amz-Signature=SECRET" },
  ],
  "a user and password of an endpoint": [
    endpoints,
    {},
    { url: "https://u:SECRET@hooks.example/", event_types: ["image.*"] },
  ],
  "a literal of a document that is wrong": graph('mutation { createApiKey(password: "SECRET") { nothing } }'),
  "a variable that is not declared": graph("{ viewer { id } }", { password: "SECRET" }),
  "the value of a property that is none": graph(
    "mutation ($input: SetPropertyInput!) { setProperty(input: $input) { errors { message } } }",
    { input: { name: "mail.password", value: "SECRET", expectedRevision: "0" } },
  ),
};

/** Puts a secret into its place. */
function filled(place: Place, secret: string, sourcePath: string, own: Headers): [string, ClientRequest] {
  const text = JSON.stringify(place).replaceAll("SECRET", secret).replaceAll("SOURCE", sourcePath);
  const [path, { authorization, ...headers } = {}, body, method] = JSON.parse(text) as Place;
  const [, basic] = /^Basic (.*)/.exec(authorization ?? "") ?? [];
  const credential = basic === undefined ? authorization : `Basic ${Buffer.from(basic).toString("base64")}`;
  const all = { ...own, ...headers, ...(credential !== undefined && { authorization: credential }) };
  const sent = typeof body === "string" ? Buffer.from(body) : body;
  const verb = method ?? (body === undefined ? undefined : "POST");
  return [
    path,
    { headers: all, ...(body !== undefined && { body: sent }), ...(verb !== undefined && { method: verb }) },
  ];
}

function withPart(photo: Buffer, secret: string): FormData {
  const form = photoForm(photo);
  form.set("password", secret);
  return form;
}

/** Sends secrets in every place, creates those of the product itself, and returns all of them. */
export async function plantSecrets(scene: TrustingScene, owner: Victim): Promise<readonly Planted[]> {
  const { world, send } = scene;
  const own = owner.headers;
  const secretOfSource = newSecret();
  const source = (
    await world.send(own, "/api/v1/webhooks/sources", {
      body: { name: "Planted", scheme: "github", secret: secretOfSource },
    })
  ).json;
  await world.send(own, "/images", { body: photoForm(world.photo) });
  const planted: Planted[] = [{ what: "the secret of a source", secret: secretOfSource, answer: null }];
  const plant = async (what: string, requestOf: (secret: string) => [string, ClientRequest]) => {
    const secret = newSecret();
    planted.push({ what, secret, answer: await send(...requestOf(secret)) });
  };
  for (const [places, by] of [
    [ofNobody, {}],
    [ofOwner, own],
  ] as const)
    for (const [what, place] of Object.entries(places))
      await plant(what, (secret) => filled(place, secret, source.ingest_path, by));
  await plant("an unknown part of an upload", (secret) => [
    "/images",
    { headers: { ...own }, body: withPart(world.photo, secret) },
  ]);
  return [...planted, ...(await productSecrets(scene, owner))];
}

const newSecret = () => `Planted${randomBytes(18).toString("hex")}`;

/** Secrets that the product shows exactly once. */
async function productSecrets({ world, receiver }: TrustingScene, { headers, address }: Victim): Promise<Planted[]> {
  const shownOnce = (what: string, secret: string): Planted => ({ what, secret, answer: null });
  const post = async (path: string, body?: unknown) => (await world.send(headers, path, { method: "POST", body })).json;
  const key = await post("/api/account/api-keys/", { name: "planted", scopes: ["account:read", "images:read"] });
  await world.send({ "x-api-key": key.key }, "/images");
  const rotated = await post(`/api/account/api-keys/${key.id}/rotate`, {});
  const endpoint = await post("/api/v1/webhooks/endpoints", { url: receiver.url, event_types: ["account.updated"] });
  const other = await post(`/api/v1/webhooks/endpoints/${endpoint.id}/secret/rotate`);
  const contact_address = `${randomBytes(8).toString("hex")}@example.org`;
  await world.send(headers, "/api/account/", { method: "PATCH", body: { contact_address } });
  const objection = (await world.mailTo(address)).link.split("/").at(-1) ?? "";
  await world.send({ authorization: headers.authorization ?? "" }, "/api/account/", {
    method: "PATCH",
    body: { display_name: "Planted" },
  });
  return [
    shownOnce("an API key that works", key.key),
    shownOnce("an API key that replaces another", rotated.key),
    shownOnce("the secret of an endpoint", endpoint.secret),
    shownOnce("the new secret of an endpoint", other.secret),
    shownOnce("a good token", (headers.authorization ?? "").replace("Bearer ", "")),
    shownOnce("the signature of a good token", (headers.authorization ?? "").split(".").at(-1) ?? ""),
    shownOnce("the token of a link in a mail", objection),
  ].filter(({ secret }) => secret.length >= 16);
}
