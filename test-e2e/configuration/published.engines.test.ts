import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { publishedProperties } from "@signalbox/contracts";
import {
  createOidcIssuer,
  createReceiver,
  eventually,
  type OidcIssuer,
  type Receiver,
  readFixture,
} from "@signalbox/testing";
import { type Answer, type Client, createClient, expectStatus } from "../journey/client.ts";
import { type EmbeddedSystem, startEmbeddedIn } from "../systems/embedded-system.ts";
import { newPerson, owner, trusting } from "../systems/trusted-people.ts";
import { publishOverrides } from "./overridable.ts";

interface Scene {
  readonly system: EmbeddedSystem;
  readonly send: Client;
  readonly issuer: OidcIssuer;
  readonly receiver: Receiver;
  readonly imageId: string;
  readonly ingestPath: string;
}

/** A value other than the default, and a check that the system enforces it. */
interface Change {
  readonly value: unknown;
  readonly holds: (scene: Scene) => Promise<boolean>;
}

const statusIs = (status: number, ask: (scene: Scene) => Promise<Answer>) => async (scene: Scene) =>
  (await ask(scene)).status === status;

const upload =
  (name: "one-pixel.png" | "alpha.png" | "photo.jpg") =>
  async ({ send }: Scene) => {
    const body = new FormData();
    const type = name.endsWith("png") ? "image/png" : "image/jpeg";
    body.set("file", new File([await readFixture(name)], name, { type }));
    return send("/images", { body });
  };
const importImage = ({ send, receiver }: Scene) =>
  send("/images/import", { body: { source_url: `${receiver.url}/slow.png` } });
const newSource = ({ send }: Scene) =>
  send("/api/v1/webhooks/sources", {
    body: { name: "Partner", scheme: "standard-webhooks", secret: `whsec_${"A".repeat(32)}` },
  });
const newEndpoint = ({ send, receiver }: Scene) =>
  send("/api/v1/webhooks/endpoints", {
    body: { url: `${receiver.url}/hook`, event_types: ["image.created"] },
  });

let locales = 0;
const otherLocale = () => (locales++ % 2 === 0 ? "fr" : "de");

/** Every published property: a missing one does not compile. This version does not serve `fixed` ones. */
const changes: Readonly<Record<keyof typeof publishedProperties, Change | "fixed">> = {
  "limits.maxPageSize": { value: 30, holds: statusIs(400, ({ send }) => send("/images?limit=31")) },
  "limits.requestTimeoutSeconds": { value: 1, holds: statusIs(504, importImage) },
  "limits.maxRequestBytes": {
    value: 1_024,
    holds: statusIs(413, ({ send }) =>
      send("/api/account/", { method: "PATCH", body: { display_name: "x".repeat(2_000) } }),
    ),
  },
  "limits.maxUploadBytes": { value: 1_024, holds: statusIs(413, upload("photo.jpg")) },
  "limits.maxImagePixels": { value: 1, holds: async (scene) => (await upload("alpha.png")(scene)).status !== 201 },
  "limits.maxImageSide": { value: 1, holds: async (scene) => (await upload("alpha.png")(scene)).status !== 201 },
  "limits.maxWebhookBytes": {
    value: 1_024,
    holds: statusIs(413, ({ send, ingestPath }) => send(ingestPath, { body: { text: "x".repeat(2_000) } })),
  },
  "defaults.pageSize": { value: 1, holds: async ({ send }) => (await send("/images")).json.items.length === 1 },
  "defaults.locale": {
    value: "de",
    holds: async ({ system, issuer }) => {
      const { token } = await newPerson(system, issuer);
      return (await owner(system, token)("/api/account/")).json.locale === "de";
    },
  },
  "capabilities.imageImport": { value: false, holds: statusIs(403, importImage) },
  "capabilities.imageDirectUpload": {
    value: false,
    // An unsupported type: where direct uploads are enabled this is 415, and no upload stays open.
    holds: statusIs(403, ({ send }) =>
      send("/images/uploads", { body: { filename: "a.svg", mime_type: "image/svg+xml", size_bytes: 1 } }),
    ),
  },
  "capabilities.imageAvif": {
    value: false,
    holds: async ({ send, imageId }) => {
      const headers = { accept: "image/avif" };
      const { status, headers: given } = await send(`/images/${imageId}/content?width=1`, { headers });
      return status !== 200 || given.get("content-type") !== "image/avif";
    },
  },
  "capabilities.signedUrls": {
    value: false,
    holds: statusIs(403, ({ send, imageId }) =>
      send(`/images/${imageId}/signed-urls`, { body: { expires_in_seconds: 60 } }),
    ),
  },
  "capabilities.graphqlSubscriptions": {
    value: false,
    // An invalid cursor: where subscriptions are enabled this is 400, and no stream stays open.
    holds: statusIs(403, ({ send }) =>
      send("/graphql", {
        headers: { accept: "text/event-stream" },
        body: { query: "subscription { configChanged { cursor } }", extensions: { resumeAfter: "none" } },
      }),
    ),
  },
  "capabilities.configStream": {
    value: false,
    holds: statusIs(403, ({ send }) => send("/api/v1/config/stream", { method: "HEAD" })),
  },
  "capabilities.webhooks": { value: false, holds: statusIs(403, newEndpoint) },
  "features.integrations": {
    value: "disabled",
    holds: async (scene) =>
      (await newSource(scene)).status === 403 && (await scene.send(scene.ingestPath, { body: {} })).status === 503,
  },
  "features.reports": "fixed",
  "supported.locales": {
    value: ["en"],
    // The present value may always be sent back.
    holds: statusIs(422, ({ send }) => send("/api/account/", { method: "PATCH", body: { locale: otherLocale() } })),
  },
  "supported.imageTypes": { value: ["image/jpeg"], holds: statusIs(415, upload("one-pixel.png")) },
};

let scene: Scene;
const opened = new AsyncDisposableStack();
before(async () => {
  const issuer = opened.adopt(await createOidcIssuer(), (each) => each.close());
  const receiver = opened.adopt(await createReceiver({ instead: "hang" }), (each) => each.close());
  const system = await startEmbeddedIn(opened, {
    ...trusting(issuer),
    "images.import.allow": "127.0.0.1:*",
    "images.import.deadline": "3000",
    "webhook-delivery.outbound.allow": "127.0.0.1:*",
    "webhook-delivery.endpoints.max": "1000",
  });
  const send = createClient(system.baseUrl, system.apiKey);
  const parts = { system, send, issuer, receiver };
  const image = expectStatus(await upload("one-pixel.png")({ ...parts, imageId: "", ingestPath: "" }), 201);
  expectStatus(await upload("one-pixel.png")({ ...parts, imageId: "", ingestPath: "" }), 201);
  const source = expectStatus(await newSource({ ...parts, imageId: "", ingestPath: "" }), 201);
  scene = { ...parts, imageId: image.json.id, ingestPath: source.json.ingest_path };
});
after(() => opened.disposeAsync());

let revision = 0;
const override = (property: string, set: boolean, value: unknown) =>
  publishOverrides(scene.system.eventsUrl, [{ property, set, value }], ++revision);

async function announced(property: string): Promise<unknown> {
  const { json } = expectStatus(await scene.send("/api/v1/config/"), 200);
  const [member = "", name = ""] = property.split(".");
  return json[member][name];
}

for (const [property, change] of Object.entries(changes)) {
  const { default: standard } = publishedProperties[property as keyof typeof publishedProperties];
  if (change === "fixed") {
    test(`${property} is not served, nor announced by an override`, async () => {
      await override(property, true, "enabled");
      const status = await eventually(async () => {
        const { json } = await scene.send("/api/v1/status/config");
        return json.validation.problems.some((problem: string) => problem.includes(property)) && json;
      });
      assert.equal(status.status, "degraded");
      assert.deepEqual(await announced(property), standard);
      await override(property, false, null);
    });
  } else {
    test(`${property} is enforced as it is announced`, async () => {
      assert.deepEqual(await announced(property), standard);
      assert.equal(await change.holds(scene), false);
      await override(property, true, change.value);
      await eventually(async () => JSON.stringify(await announced(property)) === JSON.stringify(change.value));
      await eventually(() => change.holds(scene));
      await override(property, false, null);
      await eventually(async () => !(await change.holds(scene)));
      await eventually(async () => JSON.stringify(await announced(property)) === JSON.stringify(standard));
    });
  }
}
