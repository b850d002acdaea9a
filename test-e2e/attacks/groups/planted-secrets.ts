import { randomBytes } from "node:crypto";
import type { Headers } from "../../audit/world.ts";
import type { Answer, ClientRequest } from "../../journey/client.ts";
import type { TrustingScene, Victim } from "../scene/trusting-scene.ts";
import { photoForm } from "./owned-things.ts";

/** A secret that was sent to the system. */
export interface Planted {
  readonly what: string;
  readonly secret: string;
  /** The answer to the sender; null when the contract shows the secret once. */
  readonly answer: Answer | null;
}

/** A secret at one place of a request. */
type Place = (secret: string, given: Given) => [path: string, request: ClientRequest];

interface Given {
  readonly own: Headers;
  readonly sourcePath: string;
  readonly imageId: string;
  readonly photo: Buffer;
}

const graph = (own: Headers, query: string, variables: object = {}): [string, ClientRequest] => [
  "/graphql",
  { headers: { ...own }, body: { query, variables } },
];
const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
const raw = (own: Headers, method: string, type: string, body: string): ClientRequest => ({
  method,
  headers: { ...own, "content-type": type },
  body: Buffer.from(body),
});

/** Secrets as credentials, valid and invalid. */
const asCredential: Readonly<Record<string, Place>> = {
  "a Bearer token": (secret) => ["/api/account/", { headers: { authorization: `Bearer ${secret}` } }],
  "a Bearer token at images": (secret) => ["/images", { headers: { authorization: `Bearer ${secret}` } }],
  "an API key": (secret) => ["/images", { headers: { "x-api-key": secret } }],
  "an API key with the right beginning": (secret) => [
    "/api/v1/config",
    { headers: { "x-api-key": `sbx_dev_${secret}` } },
  ],
  "a Basic password": (secret) => ["/api/v1/webhooks/sources", { headers: { authorization: basic(`user:${secret}`) } }],
  "a Basic user": (secret) => ["/api/v1/webhooks/endpoints", { headers: { authorization: basic(`${secret}:x`) } }],
  "an unknown scheme": (secret) => ["/api/account/", { headers: { authorization: `Digest ${secret}` } }],
  "two credentials": (secret) => [
    "/api/account/",
    { headers: { authorization: `Bearer ${secret}`, "x-api-key": secret } },
  ],
  "a cookie": (secret, { own }) => ["/api/account/", { headers: { ...own, cookie: `session=${secret}` } }],
  "a proxy's credential": (secret, { own }) => [
    "/images",
    { headers: { ...own, "proxy-authorization": `Bearer ${secret}` } },
  ],
  "an internal token": (secret, { own }) => [
    "/api/account/",
    { headers: { ...own, "x-signalbox-internal-token": secret } },
  ],
  "access_token in the query": (secret) => [`/api/account/?access_token=${secret}`, {}],
  "api_key in the query": (secret) => [`/images?api_key=${secret}`, {}],
  "an unknown parameter": (secret, { own }) => [`/images?pass=${secret}`, { headers: { ...own } }],
  "a parameter of the gateway": (secret, { own }) => [
    `/graphql?query={viewer{id}}&token=${secret}`,
    { headers: { ...own } },
  ],
  "the query of a page that refers": (secret, { own }) => [
    "/api/account/",
    { headers: { ...own, referer: `https://app.example/?token=${secret}` } },
  ],
  "a token to link": (secret, { own }) => [
    "/api/account/identities/",
    { headers: { ...own }, body: { token: secret } },
  ],
  "a wrong code": (secret, { own }) => ["/api/account/step-up/", { headers: { ...own }, body: { code: secret } }],
  "a wrong code of an address": (secret, { own }) => [
    "/api/account/contact-change/confirm",
    { headers: { ...own }, body: { code: secret } },
  ],
};

/** Secrets within refused bodies. */
const inBody: Readonly<Record<string, Place>> = {
  ...Object.fromEntries(
    [
      "/api/account/api-keys/",
      "/images/import",
      "/api/v1/webhooks/sources",
      "/api/v1/webhooks/endpoints",
      "/api/account/step-up/",
    ].flatMap((path) =>
      ["password", "secret_key", "token"].map((member): [string, Place] => [
        `a member ${member} of POST ${path}`,
        (secret, { own }) => [path, { headers: { ...own }, body: { [member]: secret } }],
      ]),
    ),
  ),
  "a member of PATCH /api/account/": (secret, { own }) => [
    "/api/account/",
    { method: "PATCH", headers: { ...own }, body: { password: secret } },
  ],
  "a member name": (secret, { own }) => [
    "/api/account/",
    { method: "PATCH", headers: { ...own }, body: { credentials: { [secret]: 1 } } },
  ],
  "a body that is no JSON": (secret, { own }) => [
    "/api/account/",
    raw(own, "PATCH", "application/json", `{"password":"${secret}`),
  ],
  "a body of another type": (secret, { own }) => ["/api/account/", raw(own, "PATCH", "text/plain", secret)],
  "a form": (secret, { own }) => [
    "/api/account/api-keys/",
    raw(own, "POST", "application/x-www-form-urlencoded", `password=${secret}`),
  ],
  "a scheme's secret that does not fit": (secret, { own }) => [
    "/api/v1/webhooks/sources",
    { headers: { ...own }, body: { name: "x", scheme: "standard-webhooks", secret } },
  ],
  "a user and password of an import": (secret, { own }) => [
    "/images/import",
    { headers: { ...own }, body: { source_url: `https://u:${secret}@photos.example/a.jpg` } },
  ],
  "a signature in the address of an import": (secret, { own }) => [
    "/images/import",
    { headers: { ...own }, body: { source_url: `http://127.0.0.1:9/a.jpg?X-Amz-Signature=${secret}` } },
  ],
  "a user and password of an endpoint": (secret, { own }) => [
    "/api/v1/webhooks/endpoints",
    { headers: { ...own }, body: { url: `https://u:${secret}@hooks.example/`, event_types: ["image.*"] } },
  ],
  "an unknown part of an upload": (secret, { own, photo }) => [
    "/images",
    { headers: { ...own }, body: withPart(photo, secret) },
  ],
  "a literal of a document that is wrong": (secret, { own }) =>
    graph(own, `mutation { createApiKey(password: "${secret}") { nothing } }`),
  "a variable that is not declared": (secret, { own }) => graph(own, "{ viewer { id } }", { password: secret }),
  "the value of a property that is none": (secret, { own }) =>
    graph(own, "mutation ($input: SetPropertyInput!) { setProperty(input: $input) { errors { message } } }", {
      input: { name: "mail.password", value: secret, expectedRevision: "0" },
    }),
  "a signature of a webhook": (secret, { sourcePath }) => [
    sourcePath,
    { headers: { "x-hub-signature-256": `sha256=${secret}`, "x-github-delivery": "a" }, body: {} },
  ],
  "a partner's credential": (secret, { sourcePath }) => [
    sourcePath,
    { headers: { authorization: `Bearer ${secret}`, "x-api-key": secret, cookie: `s=${secret}` }, body: {} },
  ],
  "the query of a webhook": (secret, { sourcePath }) => [`${sourcePath}?token=${secret}`, { body: {} }],
};

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
  const image = (await world.send(own, "/images", { body: photoForm(world.photo) })).json;
  const given = { own, sourcePath: source.ingest_path, imageId: image.id, photo: world.photo };
  const planted: Planted[] = [{ what: "the secret of a source", secret: secretOfSource, answer: null }];
  for (const [what, place] of Object.entries({ ...asCredential, ...inBody })) {
    const secret = newSecret();
    const [path, request] = place(secret, given);
    planted.push({ what, secret, answer: await send(path, request) });
  }
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
