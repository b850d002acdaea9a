/**
 * A program of a user of the API: it knows the package, an address and a key. It is built with the strictest compiler and run
 * from its JavaScript, beside the tarball that `npm run pack` makes.
 */
import { ApiError, createClient, dataOf, etagOf, type Image, type WebhookEndpointWithSecret } from "@signalbox/client";
import { verify } from "@signalbox/client/webhooks";

const [baseUrl = "", apiKey = ""] = process.argv.slice(2);
const client = createClient({ baseUrl, credential: { apiKey } });

const account = await client.account.get();
const { id } = await dataOf(client.GET("/api/account"));

const endpoint: WebhookEndpointWithSecret = await client.webhookEndpoints.create({
  type: "pull",
  event_types: ["image.created", "parcel.*"],
});

const pixel = "R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==";
const file = new File([Buffer.from(pixel, "base64")], "pixel.gif", { type: "image/gif" });
let sent = 0;
const uploaded: Image = await client.uploadImage(file, {
  title: "A pixel",
  onProgress: ({ sentBytes }) => {
    sent = sentBytes;
  },
});
const image = await client.waitUntilReady(uploaded);
const sizes = (await (await client.images.original(image.id)).arrayBuffer()).byteLength;

const ids: string[] = [];
for await (const one of client.images.list({ limit: 1 })) ids.push(one.id);

const read = await client.images.get(image.id);
const described = await client.images.update(image.id, { alt_text: "White" }, { ifMatch: etagOf(read) ?? "" });
const stale = await client.images
  .update(image.id, { alt_text: "Grey" }, { ifMatch: etagOf(read) ?? "" })
  .catch((error: unknown) => (error instanceof ApiError ? `${error.status} ${error.code}` : error));

await client.webhookEvents.publish({ type: "parcel.sent", data: { weight: 3 } });
const events: string[] = [];
for await (const message of client.messages(endpoint.id)) {
  const event = await verify<{ "parcel.sent": { weight: number } }>(message.rawBody, message.headers, endpoint.secret);
  if (event.type === "image.created") events.push(`${event.data.title} ${event.data.width}`);
  if (event.type === "parcel.sent") events.push(`parcel ${event.data.weight}`);
  if (events.length < 2) continue;
  await message.ack();
  break;
}
const { items: attempts } = await client.webhookAttempts.list({ endpoint_id: endpoint.id });

const renamed = new AbortController();
const query = "subscription { accountChanged { changed account { displayName } } }";
const changes = client.subscribe<{ accountChanged: { changed: string[] } }>(query, { signal: renamed.signal });
const first = changes.next();
let changed: string[] | undefined;
// The subscription begins at some moment: the account is renamed until a message comes.
for (let round = 0; !changed; round++) {
  await client.account.update({ display_name: `Ada ${round}` });
  const answer = await Promise.race([first, new Promise<null>((resolve) => setTimeout(resolve, 200, null))]);
  if (answer?.value) changed = answer.value.data.accountChanged.changed;
}
renamed.abort();
await changes.return();

await client.images.delete(image.id);
await client.webhookEndpoints.delete(endpoint.id);
const refused = await client.images
  .get("img_nobody")
  .catch((error: unknown) => (error instanceof ApiError ? `${error.status} ${error.code}` : error));

// @ts-expect-error A path that the API does not have does not compile.
type _Unknown = Parameters<typeof client.GET<"/pictures", never>>;
// @ts-expect-error Nor does a method that no operation has.
type _Missing = typeof client.images.paint;

const facts = {
  own: id === account.id,
  title: image.title,
  status: image.status,
  sent,
  sizes,
  stale,
  refused,
  changed,
};
const answer = { ...facts, newest: ids[0] === image.id, alt: described.alt_text, events: events.toSorted() };
process.stdout.write(`${JSON.stringify({ ...answer, acknowledged: attempts.length })}\n`);
