import assert from "node:assert/strict";
import { createHash, createHmac, randomBytes } from "node:crypto";
import { eventually, type Mailbox, type Receiver } from "@signalbox/testing";
import type { Answer, ClientRequest } from "../journey/client.ts";

/** Texts that can be recognised anywhere. */
export interface Plants {
  /** Creates a unique text for a field that is stored as given. */
  text(field: string): string;
  /**
   * Creates a unique text for a field that is sealed, digested or not stored: it must not be found, before or after.
   */
  secret(field: string): string;
  /** Adds a value of the product, such as an id, to the texts. */
  take(field: string, text: string): string;
  /** By field: texts that must be found while the account exists. */
  readonly shown: ReadonlyMap<string, string>;
  /** By field: texts that must not be found after its purge. */
  readonly all: ReadonlyMap<string, string>;
}

export function createPlants(): Plants {
  const [shown, all] = [new Map<string, string>(), new Map<string, string>()];
  const round = randomBytes(5).toString("hex");
  const make = (field: string) => {
    const text = `pl-${round}-${field}-z`;
    all.set(field, text);
    return text;
  };
  return {
    shown,
    all,
    text: (field) => {
      const text = make(field);
      shown.set(field, text);
      return text;
    },
    secret: make,
    take: (field, text) => {
      shown.set(field, text);
      all.set(field, text);
      return text;
    },
  };
}

/** Returns the forms of a text in stored data: plain, and within base64 at each of its three offsets. */
export function formsOf(text: string): string[] {
  const encoded = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    // Characters that share bits with their neighbours are dropped.
    const whole = Math.floor((bytes.length * 8) / 6);
    return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), whole);
  });
  return [text, ...encoded, ...encoded.map((one) => one.replaceAll("+", "-").replaceAll("/", "_"))];
}

/** The person whose account will be purged, and their tools. */
export interface Scene {
  readonly plants: Plants;
  /** Sends as the owner, and expects success. */
  send(path: string, request?: ClientRequest): Promise<Answer>;
  /** Sends with other headers, and accepts any answer. */
  tryTo(headers: Record<string, string>, path: string, request?: ClientRequest): Promise<Answer>;
  /** Their verified address. */
  readonly address: string;
  readonly mailbox: Mailbox;
  /** Acknowledges deliveries below `/good`, and fails the others; each answer has a text. */
  readonly receiver: Receiver;
  readonly photo: Buffer;
  /** Address of a photograph for imports, at any path below it. */
  readonly photoUrl: string;
  /** Signs a token of an unused login. */
  readonly freshToken: () => string;
}

const sources = "/api/v1/webhooks/sources";
const endpoints = "/api/v1/webhooks/endpoints";

/** Fills every field that a person can fill, over REST and GraphQL, and makes the product mention it in every way. */
export async function plantEverything(scene: Scene): Promise<void> {
  await subscribe(scene);
  await describeThemselves(scene);
  await makeCredentials(scene);
  await keepImages(scene);
  await receiveWebhooks(scene);
  await operate(scene);
  await beRefused(scene);
  await scene.send("/api/account/export/");
}

async function graph({ send }: Scene, name: string, type: string, input: object): Promise<void> {
  const query = `mutation ($input: ${type}!) { ${name}(input: $input) { errors { field message } } }`;
  const { json } = await send("/graphql", { body: { query, variables: { input } } });
  assert.deepEqual([json.errors, json.data?.[name].errors], [undefined, []], name);
}

async function subscribe({ plants, send, receiver }: Scene): Promise<void> {
  const event_types = ["account.*", "image.*", "webhook_source.*", "webhook.received", "api_key.*"];
  const create = async (kind: string) => {
    const url = `${receiver.url}/${kind}/${plants.text(`${kind}-path`)}?q=${plants.text(`${kind}-query`)}`;
    const body = { url, description: plants.text(`${kind}-description`), event_types };
    const headers = { "idempotency-key": plants.text(`${kind}-idempotency`) };
    const { id } = (await send(endpoints, { headers, body })).json;
    return plants.take(`${kind}-id`, id);
  };
  const good = await create("good");
  await send(`${endpoints}/${good}/secret/rotate`, { method: "POST" });
  await create("failing");
  const paused = await create("paused");
  await send(`${endpoints}/${paused}/pause`, { method: "POST" });
  const former = await create("former");
  await send(`${endpoints}/${former}`, { method: "DELETE" });
}

async function describeThemselves(scene: Scene): Promise<void> {
  const { plants, send, mailbox, address, freshToken } = scene;
  await graph(scene, "updateAccount", "UpdateAccountInput", { displayName: plants.text("graph-name") });
  const second = `${plants.text("second-address")}@example.org`;
  const headers = { "idempotency-key": plants.text("idempotency"), "x-request-id": plants.text("request-id") };
  const body = { display_name: plants.text("name"), contact_address: second };
  await send("/api/account/", { method: "PATCH", headers, body });
  const code = codeIn((await mailbox.mailTo(second)).text) ?? assert.fail("a mail with a code comes first");
  await send("/api/account/contact-change/confirm", { body: { code } });
  await mailbox.mailTo(address);
  const contact_address = `${plants.text("pending-address")}@example.org`;
  await send("/api/account/", { method: "PATCH", body: { contact_address } });
  await mailbox.mailTo(contact_address);
  await send("/api/account/settings/", { method: "PATCH", body: { locale: "de", timezone: "Europe/Berlin" } });
  await send("/api/account/step-up/", { body: {} });
  // The notice of the pending change goes to the same address, before or after it.
  const codesSent = () => mailbox.mails.filter(({ to }) => to === second).map(({ text }) => codeIn(text));
  const stepUpCode = await eventually(() => codesSent().find((sent) => sent !== null && sent !== code) ?? null);
  await send("/api/account/step-up/", { body: { code: stepUpCode } });
  await send("/api/account/identities/", { body: { token: freshToken() } });
}

const codeIn = (text: string): string | null => /^ {4}(\d{8})$/m.exec(text)?.[1] ?? null;

async function makeCredentials(scene: Scene): Promise<void> {
  const { plants, send } = scene;
  const scopes = ["account:read"];
  const keys = "/api/account/api-keys/";
  const headers = { "idempotency-key": plants.text("key-idempotency") };
  const made = (await send(keys, { headers, body: { name: plants.text("key-name"), scopes } })).json;
  plants.take("key-id", made.id);
  await send(`${keys}${made.id}/rotate`, { body: {} });
  await graph(scene, "createApiKey", "CreateApiKeyInput", { name: plants.text("graph-key-name"), scopes });
  const former = (await send(keys, { body: { name: plants.text("former-key-name"), scopes } })).json;
  await send(`${keys}${former.id}`, { method: "DELETE" });
}

async function keepImages({ plants, send, photo, photoUrl }: Scene): Promise<void> {
  const upload = async (kind: string) => {
    const bytes = withComment(photo, plants.secret(`${kind}-comment`));
    const form = new FormData();
    const name = `${plants.text(`${kind}-filename`)}.jpg`;
    form.set("file", new Blob([new Uint8Array(bytes)], { type: "image/jpeg" }), name);
    for (const field of ["title", "caption", "alt_text"]) form.set(field, plants.text(`${kind}-${field}`));
    form.set("tags", JSON.stringify([plants.text(`${kind}-tag`)]));
    const { id } = (await send("/images", { body: form })).json;
    plants.take(`${kind}-sha256`, createHash("sha256").update(bytes).digest("hex"));
    await eventually(async () => (await send(`/images/${id}`)).json.status === "ready");
    return plants.take(`${kind}-id`, id);
  };
  const transformation = { method: "PUT", body: { form: { width: 123 }, eager: true } };
  await send(`/images/transformations/${plants.text("form")}`, transformation);
  const image = await upload("image");
  await send(`/images/${image}/content?width=123`, { headers: { accept: "image/webp" } });
  await send(`/images/${image}`, { method: "PATCH", body: { title: plants.text("new-title") } });
  const input = { caption: plants.text("graph-caption") };
  const query =
    "mutation ($id: ID!, $input: UpdateImageInput!) { updateImage(id: $id, input: $input) { errors { field } } }";
  await send("/graphql", { body: { query, variables: { id: image, input } } });
  const former = await upload("former-image");
  await send(`/images/${former}`, { method: "DELETE" });
  const source_url = `${photoUrl}/${plants.text("import-path")}.jpg`;
  await send("/images/import", { body: { source_url, title: plants.text("import-title") } });
}

/** Adds a comment to the bytes of the photograph. */
function withComment(jpeg: Buffer, comment: string): Buffer {
  const head = Buffer.from([0xff, 0xfe, 0, comment.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), head, Buffer.from(comment), jpeg.subarray(2)]);
}

async function receiveWebhooks({ plants, send, tryTo, receiver }: Scene): Promise<void> {
  const secret = plants.secret("source-secret");
  const event_types = [plants.text("source-event-type")];
  const settings = { event_type_header: plants.text("source-header"), signature_prefix: "p=" };
  const body = { name: plants.text("source-name"), scheme: "hmac", secret, event_types, settings };
  const { id, ingest_path } = (await send(sources, { body })).json;
  plants.take("source-id", id);
  const post = (payload: Buffer, key: string) => {
    const time = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", key).update(`${time}.`).update(payload).digest("hex");
    const headers = {
      "content-type": "application/json",
      "x-timestamp": time,
      "x-signature": `p=${signature}`,
      "x-delivery-id": plants.text(`delivery-${key.length}`),
      [settings.event_type_header]: event_types[0] ?? "",
      "user-agent": plants.secret(`agent-${key.length}`),
    };
    return tryTo(headers, ingest_path, { body: payload });
  };
  const payload = { text: plants.text("webhook-body"), [plants.text("webhook-member")]: 1 };
  assert.equal((await post(Buffer.from(JSON.stringify(payload)), secret)).status, 202);
  await receiver.waitFor(({ path, body }) => path.startsWith("/good") && body.includes(payload.text));
}

/** Acts as an operator, who gives reasons; for one property this stays the last change. */
async function operate(scene: Scene): Promise<void> {
  const { plants, send } = scene;
  const set = async (name: string, value: unknown) => {
    const query = "{ properties { name override { revision } } }";
    const { properties } = (await send("/graphql", { body: { query } })).json.data;
    const found = properties.find((one: { name: string }) => one.name === name);
    const expectedRevision = found?.override?.revision ?? "0";
    const input = { name, value, expectedRevision, reason: plants.text(`reason-${randomBytes(3).toString("hex")}`) };
    await graph(scene, "setProperty", "SetPropertyInput", input);
  };
  await set("limits.maxPageSize", 77);
  await set("limits.maxPageSize", 78);
}

async function beRefused({ plants, send, tryTo }: Scene): Promise<void> {
  const body = { name: plants.text("reader-name"), scopes: ["account:read"] };
  const { key } = (await send("/api/account/api-keys/", { body })).json;
  const headers = { "x-api-key": key, "x-request-id": plants.text("refused-request-id") };
  assert.equal((await tryTo(headers, "/images")).status, 403);
  assert.equal((await tryTo(headers, "/api/account/api-keys/", { body })).status, 403);
}
