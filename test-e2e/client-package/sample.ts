/**
 * A program of a user of the API: it knows the package, an address and a key. It is built with the strictest compiler and run
 * from its JavaScript, beside the tarball that `npm run pack-client` makes.
 */
import { ApiError, createClient, dataOf, idempotencyKey } from "@signalbox/client";

const [baseUrl = "", apiKey = ""] = process.argv.slice(2);
const client = createClient({ baseUrl, credential: { apiKey } });

const { id } = await dataOf(client.GET("/api/account"));

const pixel = "R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==";
const file = new File([Buffer.from(pixel, "base64")], "pixel.gif", { type: "image/gif" });
const image = await dataOf(
  client.POST("/images", { params: { header: idempotencyKey() }, body: { file, title: "A pixel" } }),
);

const { items } = await dataOf(client.GET("/images", { params: { query: { limit: 1 } } }));
const refused = await dataOf(client.GET("/images/{image_id}", { params: { path: { image_id: "img_nobody" } } })).catch(
  (error: unknown) => (error instanceof ApiError ? `${error.status} ${error.code}` : error),
);
await dataOf(client.DELETE("/images/{image_id}", { params: { path: { image_id: image.id } } }));

// @ts-expect-error A path that the API does not have does not compile.
type _Unknown = Parameters<typeof client.GET<"/pictures", never>>;

process.stdout.write(`${JSON.stringify({ id, title: image.title, newest: items[0]?.id === image.id, refused })}\n`);
