import { createHmac, randomBytes } from "node:crypto";
import { eventually } from "@signalbox/testing";
import type { ClientRequest } from "../journey/client.ts";
import type { Headers, Person, World } from "./world.ts";

/** A write that is ready to be made. */
export interface Attempt {
  readonly by: Headers;
  readonly path: string;
  readonly request: ClientRequest;
}

type Recipe = (world: World) => Promise<Attempt>;

const rest = ({ headers: by }: Pick<Person, "headers">, method: string, path: string, body?: unknown): Attempt => ({
  by,
  path,
  request: { method, ...(body !== undefined && { body }) },
});

/** A mutation of one input, whose payload shows its failures. */
const graph = ({ headers: by }: Pick<Person, "headers">, name: string, type: string, input: object): Attempt => ({
  by,
  path: "/graphql",
  request: {
    body: {
      query: `mutation ($input: ${type}!) { ${name}(input: $input) { errors { field message } } }`,
      variables: { input },
    },
  },
});

/** A write of somebody new, who needs nothing for it. */
const fresh =
  (make: (person: Person, world: World) => Attempt | Promise<Attempt>): Recipe =>
  async (world) =>
    make(await world.person(), world);

const whole = { display_name: "Eve", locale: "de", timezone: "UTC" };
const settings = { locale: "de", timezone: "UTC", notifications: { product_updates: true } };
const named = { name: "deploy", scopes: ["account:read"] };

/** A write about a credential that is there. */
const credential = (
  what: "api-keys" | "clients",
  make: (person: Person, id: string, path: string) => Attempt,
): Recipe =>
  fresh(async (person, { send }) => {
    const { id } = (await send(person.headers, `/api/account/${what}/`, { body: named })).json;
    return make(person, id, `/api/account/${what}/${id}`);
  });

/** A write about a contact address that waits for its confirmation, with the code that was mailed to it. */
const pending = (make: (person: Person, mail: { code: string }) => Attempt): Recipe =>
  fresh(async (person, { send, mailTo }) => {
    const contact_address = `${randomBytes(8).toString("hex")}@example.org`;
    await send(person.headers, "/api/account/", { method: "PATCH", body: { contact_address } });
    return make(person, await mailTo(contact_address));
  });

/** The holder of the address in use objects to its change, by the link in the mail. */
const objection: Recipe = fresh(async (person, { send, mailTo }) => {
  const contact_address = `${randomBytes(8).toString("hex")}@example.org`;
  await send(person.headers, "/api/account/", { method: "PATCH", body: { contact_address } });
  return rest(person, "POST", (await mailTo(person.address)).link);
});

const image = (make: (person: Person, id: string) => Attempt): Recipe =>
  fresh(async (person, world) => {
    const { path, request } = upload(person, world);
    return make(person, (await world.send(person.headers, path, request)).json.id);
  });

function upload(person: Person, { photo }: World): Attempt {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(photo)], { type: "image/jpeg" }), "photo.jpg");
  return rest(person, "POST", "/images", form);
}

const sources = "/api/v1/webhooks/sources";
const newSource = {
  name: "Partner",
  scheme: "standard-webhooks",
  secret: `whsec_${randomBytes(24).toString("base64")}`,
};
const source = (make: (person: Person, path: string) => Attempt): Recipe =>
  fresh(async (person, { send }) => {
    const { id } = (await send(person.headers, sources, { body: newSource })).json;
    return make(person, `${sources}/${id}`);
  });

/** A mutation of a source that is there. */
const sourceGraph = (call: (id: string) => string): Recipe =>
  fresh(async ({ headers: by }, { send }) => {
    const { id } = (await send(by, sources, { body: newSource })).json;
    return { by, path: "/graphql", request: { body: { query: `mutation { ${call(id)} { errors { message } } }` } } };
  });

/** A mutation about the source of a path; SOURCE stands for the argument that names it. */
const ofSource = ({ headers: by }: Person, path: string, call: string): Attempt => {
  const id = path.slice(sources.length + 1).split("/")[0];
  const query = `mutation { ${call.replace("SOURCE", `sourceId: "${id}"`)} { errors { message } } }`;
  return { by, path: "/graphql", request: { body: { query } } };
};

/** A replay that takes its time: of some webhooks that a source received, one a second. */
const runningReplay = (make: (person: Person, path: string) => Attempt): Recipe =>
  fresh(async (person, { send }) => {
    const secret = randomBytes(24).toString("hex");
    const { id, ingest_path } = (
      await send(person.headers, sources, { body: { ...newSource, scheme: "github", secret } })
    ).json;
    for (let nth = 0; nth < 20; nth++) {
      const body = { nth };
      const signature = createHmac("sha256", secret).update(JSON.stringify(body)).digest("hex");
      const headers = { "x-github-delivery": `${nth}`, "x-hub-signature-256": `sha256=${signature}` };
      await send(headers, ingest_path, { body });
    }
    const path = `${sources}/${id}/replays`;
    const body = { from: "2026-01-01T00:00:00Z", rate: 1 };
    return make(person, `${path}/${(await send(person.headers, path, { body })).json.id}`);
  });

/** A webhook that was refused for the secret of its source, which is right by now. */
const mendedRejection = (make: (person: Person, path: string) => Attempt): Recipe =>
  fresh(async (person, { send, tryTo }) => {
    const secret = randomBytes(24).toString("hex");
    const settings = { keep_rejected_bodies: true };
    const wrong = { ...newSource, scheme: "github", secret: `${secret}-wrong`, settings };
    const { id, ingest_path } = (await send(person.headers, sources, { body: wrong })).json;
    const signature = createHmac("sha256", secret).update("{}").digest("hex");
    await tryTo({ "x-github-delivery": "1", "x-hub-signature-256": `sha256=${signature}` }, ingest_path, { body: {} });
    const path = `${sources}/${id}/rejections`;
    const rejection = await eventually(async () => (await send(person.headers, path)).json.items[0]?.id ?? null);
    await send(person.headers, `${sources}/${id}`, { method: "PATCH", body: { secret } });
    return make(person, `${path}/${rejection}`);
  });

const endpoints = "/api/v1/webhooks/endpoints";
const newEndpoint = { url: "https://hooks.example.org/a", event_types: ["account.updated"] };
const endpoint = (make: (person: Person, path: string) => Attempt, before: readonly string[] = []): Recipe =>
  fresh(async (person, { send }) => {
    const { id } = (await send(person.headers, endpoints, { body: newEndpoint })).json;
    for (const action of before) await send(person.headers, `${endpoints}/${id}/${action}`, { method: "POST" });
    return make(person, `${endpoints}/${id}`);
  });

const eventTypes = "/api/v1/webhooks/event-types";
const eventType = (make: (person: Person, path: string) => Attempt): Recipe =>
  fresh(async (person, { send }) => {
    await send(person.headers, eventTypes, { body: { name: "order.created" } });
    return make(person, `${eventTypes}/order.created`);
  });

/** An endpoint whose receiver said that it is gone. */
const disabledEndpoint = (make: (person: Person, path: string) => Attempt): Recipe =>
  fresh(async (person, { send, goneUrl: url }) => {
    const { id } = (await send(person.headers, endpoints, { body: { ...newEndpoint, url } })).json;
    await send(person.headers, "/api/account/", { method: "PATCH", body: { display_name: "Eve" } });
    const path = `${endpoints}/${id}`;
    await eventually(async () => (await send(person.headers, path)).json.status === "disabled");
    return make(person, path);
  });

/** A mutation about the endpoint of a path, or the type: the last step stands for ID. */
const ofPath =
  (call: string) =>
  ({ headers: by }: Person, path: string): Attempt => {
    const query = `mutation { ${call.replace("ID", `"${path.split("/").at(-1)}"`)} { errors { message } } }`;
    return { by, path: "/graphql", request: { body: { query } } };
  };

const property = "limits.maxPageSize";
async function revisionOf({ send, administrator }: World, wanted = property): Promise<string> {
  const query = "{ properties { name override { revision } } }";
  const { properties } = (await send(administrator, "/graphql", { body: { query } })).json.data;
  return properties.find(({ name }: { name: string }) => name === wanted)?.override?.revision ?? "0";
}
const newestRevision = async ({ send, administrator }: World): Promise<string> =>
  (await send(administrator, "/api/v1/status/config")).json.revision;
/** Each write has a property of its own: made ready together, all but the first would come too late. */
const changesOf = async (world: World, name: string) => [
  { name, value: 76, expectedRevision: await revisionOf(world, name) },
];

/** A change that somebody else than the administrator has proposed. */
async function proposed(world: World, name: string, by = world.administrator): Promise<string> {
  const query = `mutation($input: ProposeChangeInput!) { proposeChange(input: $input) { proposal { id } } }`;
  const variables = { input: { changes: await changesOf(world, name), reason: "walked" } };
  const { json } = await world.send(by, "/graphql", { body: { query, variables } });
  return json.data.proposeChange.proposal.id;
}

const newFlag = () => ({
  ...{ key: `walked.${randomBytes(6).toString("hex")}`, state: "enabled", type: "boolean", owner: "tests" },
  variants: [{ name: "off", value: false }],
  ...{ default: "off", off: "off", expectedRevision: "0", reason: "walked" },
});

const changeStatus: Recipe = async ({ administrator, person }) => {
  const { id } = await person();
  const body = { status: "suspended", reason: "walked" };
  return rest({ headers: administrator }, "POST", `/api/accounts/${id}/status`, body);
};

/** How to make each write that leaves an entry. A write that is in no table fails the walk. */
export const recipes: Readonly<Record<string, Recipe>> = {
  "PATCH /api/account/": fresh((person) => rest(person, "PATCH", "/api/account/", { display_name: "Eve" })),
  "PUT /api/account/": fresh((person) => {
    return rest(person, "PUT", "/api/account/", { ...whole, contact_address: person.address });
  }),
  "DELETE /api/account/": fresh((person) => rest(person, "DELETE", "/api/account/")),
  "PATCH /api/account/settings/": fresh((person) => rest(person, "PATCH", "/api/account/settings/", { locale: "de" })),
  "PUT /api/account/settings/": fresh((person) => rest(person, "PUT", "/api/account/settings/", settings)),
  "PATCH /api/settings/": fresh((person) => rest(person, "PATCH", "/api/settings/", { locale: "de" })),
  "PUT /api/settings/": fresh((person) => rest(person, "PUT", "/api/settings/", settings)),
  "POST /api/account/status/": fresh((person) => rest(person, "POST", "/api/account/status/", { status: "disabled" })),
  "POST /api/account/recovery/": fresh(async (person, { send, tryTo }) => {
    await send(person.headers, "/api/account/status/", { body: { status: "disabled" } });
    // The edge of the service knows it when it refuses what only an active account may do.
    await eventually(async () => (await tryTo(person.headers, "/api/account/api-keys/", { body: {} })).status === 403);
    return rest(person, "POST", "/api/account/recovery/");
  }),
  "POST /api/account/contact-change/confirm": pending((person, { code }) =>
    rest(person, "POST", "/api/account/contact-change/confirm", { code }),
  ),
  "DELETE /api/account/contact-change/": pending((person) => rest(person, "DELETE", "/api/account/contact-change/")),
  "POST /api/account/contact-links/{token}": objection,
  "POST /api/account/step-up/": fresh(async (person, { send, mailTo }) => {
    await send(person.headers, "/api/account/step-up/", { body: {} });
    const { code } = await mailTo(person.address);
    return rest(person, "POST", "/api/account/step-up/", { code });
  }),
  "DELETE /api/account/sign-ins/": fresh((person) => rest(person, "DELETE", "/api/account/sign-ins/")),
  "POST /api/account/identities/": fresh((person, { freshToken }) =>
    rest(person, "POST", "/api/account/identities/", { token: freshToken() }),
  ),
  "DELETE /api/account/identities/{identity_id}": fresh(async (person, { send, freshToken }) => {
    const { id } = (await send(person.headers, "/api/account/identities/", { body: { token: freshToken() } })).json;
    return rest(person, "DELETE", `/api/account/identities/${id}`);
  }),
  "GET /api/account/export/": fresh((person) => rest(person, "GET", "/api/account/export/")),
  "POST /api/account/api-keys/": fresh((person) => rest(person, "POST", "/api/account/api-keys/", named)),
  "PATCH /api/account/api-keys/{key_id}": credential("api-keys", (person, _id, path) =>
    rest(person, "PATCH", path, { name: "other" }),
  ),
  "POST /api/account/api-keys/{key_id}/rotate": credential("api-keys", (person, _id, path) =>
    rest(person, "POST", `${path}/rotate`, {}),
  ),
  "DELETE /api/account/api-keys/{key_id}": credential("api-keys", (person, _id, path) => rest(person, "DELETE", path)),
  "DELETE /api/account/current-api-key/": fresh(async (person, { send }) => {
    const { key } = (await send(person.headers, "/api/account/api-keys/", { body: named })).json;
    return rest({ headers: { "x-api-key": key } }, "DELETE", "/api/account/current-api-key/");
  }),
  "POST /api/accounts/{account_id}/status": changeStatus,
  "POST /images": fresh(upload),
  "POST /images/import": fresh((person, { photoUrl: source_url }) =>
    rest(person, "POST", "/images/import", { source_url }),
  ),
  "PATCH /images/{image_id}": image((person, id) => rest(person, "PATCH", `/images/${id}`, { title: "Hills" })),
  "PUT /images/{image_id}": image((person, id) => rest(person, "PUT", `/images/${id}`, { filename: "hills.jpg" })),
  "POST /images/signing-keys/rotate": fresh((person) => rest(person, "POST", "/images/signing-keys/rotate")),
  "POST /images/{image_id}/reprocess": image((person, id) => rest(person, "POST", `/images/${id}/reprocess`)),
  "DELETE /images/{image_id}": image((person, id) => rest(person, "DELETE", `/images/${id}`)),
  "POST /api/v1/webhooks/sources": fresh((person) => rest(person, "POST", sources, newSource)),
  "PATCH /api/v1/webhooks/sources/{id}": source((person, path) =>
    rest(person, "PATCH", path, { secret: `whsec_${randomBytes(24).toString("base64")}` }),
  ),
  "POST /api/v1/webhooks/sources/{id}/secret/rotate": source((person, path) =>
    rest(person, "POST", `${path}/secret/rotate`, { secret: `whsec_${randomBytes(24).toString("base64")}` }),
  ),
  "POST /api/v1/webhooks/sources/{id}/rotate-url": source((person, path) =>
    rest(person, "POST", `${path}/rotate-url`, { overlap_seconds: 60 }),
  ),
  "POST /api/v1/webhooks/sources/{id}/replays": source((person, path) =>
    rest(person, "POST", `${path}/replays`, { from: "2026-01-01T00:00:00Z" }),
  ),
  "POST /api/v1/webhooks/sources/{id}/replays/{replay_id}/cancel": runningReplay((person, path) =>
    rest(person, "POST", `${path}/cancel`),
  ),
  "POST /api/v1/webhooks/sources/{id}/rejections/{rejection_id}/retry": mendedRejection((person, path) =>
    rest(person, "POST", `${path}/retry`),
  ),
  "DELETE /api/v1/webhooks/sources/{id}": source((person, path) => rest(person, "DELETE", path)),
  "Mutation.createWebhookSource": fresh((person) =>
    graph(person, "createWebhookSource", "CreateWebhookSourceInput", newSource),
  ),
  "Mutation.updateWebhookSource": sourceGraph(
    (id) => `updateWebhookSource(id: "${id}", input: { name: "Store", secret: "${newSource.secret}" })`,
  ),
  "Mutation.rotateWebhookSourceSecret": sourceGraph(
    (id) => `rotateWebhookSourceSecret(id: "${id}", input: { secret: "${newSource.secret}" })`,
  ),
  "Mutation.rotateWebhookSourceUrl": sourceGraph(
    (id) => `rotateWebhookSourceUrl(id: "${id}", input: { overlapSeconds: 60 })`,
  ),
  "Mutation.deleteWebhookSource": sourceGraph((id) => `deleteWebhookSource(id: "${id}")`),
  "POST /api/v1/webhooks/endpoints": fresh((person) => rest(person, "POST", endpoints, newEndpoint)),
  "PATCH /api/v1/webhooks/endpoints/{id}": endpoint((person, path) =>
    rest(person, "PATCH", path, { url: "https://hooks.example.org/b" }),
  ),
  "DELETE /api/v1/webhooks/endpoints/{id}": endpoint((person, path) => rest(person, "DELETE", path)),
  "POST /api/v1/webhooks/endpoints/{id}/pause": endpoint((person, path) => rest(person, "POST", `${path}/pause`)),
  "POST /api/v1/webhooks/endpoints/{id}/resume": endpoint(
    (person, path) => rest(person, "POST", `${path}/resume`),
    ["pause"],
  ),
  "POST /api/v1/webhooks/endpoints/{id}/enable": disabledEndpoint((person, path) =>
    rest(person, "POST", `${path}/enable`),
  ),
  "POST /api/v1/webhooks/endpoints/{id}/secret/rotate": endpoint((person, path) =>
    rest(person, "POST", `${path}/secret/rotate`),
  ),
  "DELETE /api/v1/webhooks/endpoints/{id}/secret/previous": endpoint(
    (person, path) => rest(person, "DELETE", `${path}/secret/previous`),
    ["secret/rotate"],
  ),
  "POST /api/v1/webhooks/endpoints/{id}/secret/reveal": endpoint((person, path) =>
    rest(person, "POST", `${path}/secret/reveal`),
  ),
  "POST /api/v1/webhooks/event-types": fresh((person) => rest(person, "POST", eventTypes, { name: "order.created" })),
  "PATCH /api/v1/webhooks/event-types/{name}": eventType((person, path) =>
    rest(person, "PATCH", path, { enforcement: "warn" }),
  ),
  "DELETE /api/v1/webhooks/event-types/{name}": eventType((person, path) => rest(person, "DELETE", path)),
  "POST /api/v1/webhooks/replays": endpoint((person, path) =>
    rest(person, "POST", "/api/v1/webhooks/replays", {
      endpoint_id: path.split("/").at(-1),
      from: "2026-01-01T00:00:00Z",
    }),
  ),
  "POST /api/v1/webhooks/keys/rotate": fresh((person) => rest(person, "POST", "/api/v1/webhooks/keys/rotate")),
  "Mutation.createWebhookEndpoint": fresh(({ headers: by }) => {
    const input = `{ url: "${newEndpoint.url}", eventTypes: ${JSON.stringify(newEndpoint.event_types)} }`;
    const query = `mutation { createWebhookEndpoint(input: ${input}) { errors { message } } }`;
    return { by, path: "/graphql", request: { body: { query } } };
  }),
  "Mutation.updateWebhookEndpoint": endpoint(
    ofPath('updateWebhookEndpoint(id: ID, input: { url: "https://hooks.example.org/b" })'),
  ),
  "Mutation.deleteWebhookEndpoint": endpoint(ofPath("deleteWebhookEndpoint(id: ID)")),
  "Mutation.pauseWebhookEndpoint": endpoint(ofPath("pauseWebhookEndpoint(id: ID)")),
  "Mutation.resumeWebhookEndpoint": endpoint(ofPath("resumeWebhookEndpoint(id: ID)"), ["pause"]),
  "Mutation.enableWebhookEndpoint": disabledEndpoint(ofPath("enableWebhookEndpoint(id: ID)")),
  "Mutation.rotateWebhookEndpointSecret": endpoint(ofPath("rotateWebhookEndpointSecret(id: ID)")),
  "Mutation.deletePreviousWebhookEndpointSecrets": endpoint(ofPath("deletePreviousWebhookEndpointSecrets(id: ID)"), [
    "secret/rotate",
  ]),
  "Mutation.revealWebhookEndpointSecret": endpoint(ofPath("revealWebhookEndpointSecret(id: ID)")),
  "Mutation.createWebhookEventType": fresh(({ headers: by }) => {
    const query = 'mutation { createWebhookEventType(input: { name: "order.created" }) { errors { message } } }';
    return { by, path: "/graphql", request: { body: { query } } };
  }),
  "Mutation.updateWebhookEventType": eventType(
    ofPath('updateWebhookEventType(name: ID, input: { enforcement: "warn" })'),
  ),
  "Mutation.deleteWebhookEventType": eventType(ofPath("deleteWebhookEventType(name: ID)")),
  "Mutation.startWebhookReplay": endpoint(
    ofPath('startWebhookReplay(input: { endpointId: ID, from: "2026-01-01T00:00:00Z" })'),
  ),
  "Mutation.rotateWebhookSigningKey": fresh(({ headers: by }) => {
    const query = "mutation { rotateWebhookSigningKey { errors { message } } }";
    return { by, path: "/graphql", request: { body: { query } } };
  }),
  "Mutation.updateAccount": fresh((person) =>
    graph(person, "updateAccount", "UpdateAccountInput", { displayName: "Eve" }),
  ),
  "Mutation.updateAccountSettings": fresh((person) =>
    graph(person, "updateAccountSettings", "UpdateAccountSettingsInput", { locale: "de" }),
  ),
  "Mutation.signOutEverywhere": fresh(({ headers: by }) => ({
    by,
    path: "/graphql",
    request: { body: { query: "mutation { signOutEverywhere { errors { field message } } }" } },
  })),
  "Mutation.setAccountStatus": async ({ administrator: headers, person }) => {
    const input = { accountId: (await person()).id, status: "suspended", reason: "walked" };
    return graph({ headers }, "setAccountStatus", "SetAccountStatusInput", input);
  },
  "Mutation.createApiKey": fresh((person) => graph(person, "createApiKey", "CreateApiKeyInput", named)),
  "Mutation.renameApiKey": credential("api-keys", (person, id) =>
    graph(person, "renameApiKey", "RenameApiKeyInput", { id, name: "other" }),
  ),
  "Mutation.rotateApiKey": credential("api-keys", (person, id) =>
    graph(person, "rotateApiKey", "RotateApiKeyInput", { id }),
  ),
  "Mutation.revokeApiKey": credential("api-keys", (person, id) =>
    graph(person, "revokeApiKey", "RevokeApiKeyInput", { id }),
  ),
  "Mutation.confirmContactAddress": pending((person, { code }) =>
    graph(person, "confirmContactAddress", "ConfirmContactAddressInput", { code }),
  ),
  "Mutation.cancelContactChange": pending(({ headers: by }) => ({
    by,
    path: "/graphql",
    request: { body: { query: "mutation { cancelContactChange { errors { field message } } }" } },
  })),
  "Mutation.setProperty": async (world) => {
    const input = { name: property, value: 77, expectedRevision: await revisionOf(world) };
    return graph({ headers: world.administrator }, "setProperty", "SetPropertyInput", input);
  },
  "Mutation.unsetProperty": async (world) => {
    const input = { name: property, expectedRevision: await revisionOf(world) };
    return graph({ headers: world.administrator }, "unsetProperty", "UnsetPropertyInput", input);
  },
  "Mutation.setProperties": async (world) => {
    const input = { changes: await changesOf(world, "account.api-keys.max"), reason: "walked" };
    return graph({ headers: world.administrator }, "setProperties", "SetPropertiesInput", input);
  },
  "Mutation.rollback": async (world) => {
    const input = { toRevision: "1", expectedRevision: await newestRevision(world), reason: "walked" };
    return graph({ headers: world.administrator }, "rollback", "RollbackInput", input);
  },
  "Mutation.proposeChange": async (world) => {
    const input = { changes: await changesOf(world, "account.clients.max"), reason: "walked" };
    return graph({ headers: world.administrator }, "proposeChange", "ProposeChangeInput", input);
  },
  "Mutation.approveChange": async (world) => {
    const id = await proposed(world, "config.streams.max-per-credential", world.secondAdministrator());
    return graph({ headers: world.administrator }, "approveChange", "ApproveChangeInput", { id });
  },
  "Mutation.withdrawChange": async (world) => {
    const id = await proposed(world, "config.streams.max");
    return graph({ headers: world.administrator }, "withdrawChange", "WithdrawChangeInput", { id });
  },
  "Mutation.setFlag": ({ administrator }) =>
    Promise.resolve(graph({ headers: administrator }, "setFlag", "SetFlagInput", newFlag())),
  "Mutation.archiveFlag": async ({ send, administrator }) => {
    const flag = newFlag();
    const query = "mutation($input: SetFlagInput!) { setFlag(input: $input) { flag { revision } } }";
    const { json } = await send(administrator, "/graphql", { body: { query, variables: { input: flag } } });
    const { revision: expectedRevision } = json.data.setFlag.flag;
    const input = { key: flag.key, expectedRevision, reason: "walked" };
    return graph({ headers: administrator }, "archiveFlag", "ArchiveFlagInput", input);
  },
  "Mutation.createReceivedWebhookReplay": source((person, path) =>
    ofSource(person, path, `createReceivedWebhookReplay(SOURCE, input: { from: "2026-01-01T00:00:00Z" })`),
  ),
  "Mutation.cancelReceivedWebhookReplay": runningReplay((person, path) =>
    ofSource(person, path, `cancelReceivedWebhookReplay(SOURCE, id: "${path.split("/").at(-1)}")`),
  ),
  "Mutation.retryWebhookRejection": mendedRejection((person, path) =>
    ofSource(person, path, `retryWebhookRejection(SOURCE, id: "${path.split("/").at(-1)}")`),
  ),
  "Mutation.updateImage": image(({ headers: by }, id) => ({
    by,
    path: "/graphql",
    request: {
      body: { query: `mutation { updateImage(id: "${id}", input: { title: "Hills" }) { errors { message } } }` },
    },
  })),
  "Mutation.importImage": fresh((person, { photoUrl: sourceUrl }) =>
    graph(person, "importImage", "ImportImageInput", { sourceUrl }),
  ),
  "Mutation.reprocessImage": image(({ headers: by }, id) => ({
    by,
    path: "/graphql",
    request: { body: { query: `mutation { reprocessImage(id: "${id}") { errors { message } } }` } },
  })),
  "Mutation.deleteImage": image(({ headers: by }, id) => ({
    by,
    path: "/graphql",
    request: { body: { query: `mutation { deleteImage(id: "${id}") { errors { message } } }` } },
  })),
};

/** A write about a sign-in with a browser. */
const signIn =
  (make: (person: Pick<Person, "headers">, id: string) => Attempt): Recipe =>
  async (world) => {
    const headers = await world.signIn();
    const [{ id }] = (await world.send(headers, "/api/account/sign-ins/")).json.items;
    return make({ headers }, id);
  };

const operating = { roles: ["admin", "operator"] };

/** How to make the writes that there are with the built-in issuer alone: another one has sign-ins, clients and roles of its own. */
export const recipesOfIssuer: Readonly<Record<string, Recipe>> = {
  "POST /api/account/clients/": fresh((person) => rest(person, "POST", "/api/account/clients/", named)),
  "PATCH /api/account/clients/{client_id}": credential("clients", (person, _id, path) =>
    rest(person, "PATCH", path, { name: "other" }),
  ),
  "POST /api/account/clients/{client_id}/secret/rotate": credential("clients", (person, _id, path) =>
    rest(person, "POST", `${path}/secret/rotate`, {}),
  ),
  "DELETE /api/account/clients/{client_id}": credential("clients", (person, _id, path) => rest(person, "DELETE", path)),
  "Mutation.createServiceClient": fresh((person) =>
    graph(person, "createServiceClient", "CreateServiceClientInput", named),
  ),
  "Mutation.renameServiceClient": credential("clients", (person, id) =>
    graph(person, "renameServiceClient", "RenameServiceClientInput", { id, name: "other" }),
  ),
  "Mutation.rotateServiceClientSecret": credential("clients", (person, id) =>
    graph(person, "rotateServiceClientSecret", "RotateServiceClientSecretInput", { id }),
  ),
  "Mutation.revokeServiceClient": credential("clients", (person, id) =>
    graph(person, "revokeServiceClient", "RevokeServiceClientInput", { id }),
  ),
  "DELETE /api/account/sign-ins/{sign_in_id}": signIn((person, id) =>
    rest(person, "DELETE", `/api/account/sign-ins/${id}`),
  ),
  "Mutation.endSignIn": signIn((person, id) => graph(person, "endSignIn", "EndSignInInput", { id })),
  "PATCH /api/accounts/{account_id}": fresh((person) => rest(person, "PATCH", `/api/accounts/${person.id}`, operating)),
  "Mutation.setAccountRoles": fresh((person) =>
    graph(person, "setAccountRoles", "SetAccountRolesInput", { accountId: person.id, roles: ["admin"] }),
  ),
};
