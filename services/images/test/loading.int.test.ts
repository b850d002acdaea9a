import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { createSubgraph } from "@signalbox/http";
import type { Pool } from "@signalbox/storage";
import { createSubgraphClient, type ServedListener, serveListener, serviceWith, testPerson } from "@signalbox/testing";
import { touchBlob } from "../src/blobs/blob-store.ts";
import type { ImagesService } from "../src/context/images-service.ts";
import { imageApi } from "../src/images/image-api.ts";
import { versionOf } from "../src/state/image.ts";
import { type Inside, imageRecord, openInside } from "./inside.ts";

let inside: Inside;
let served: ServedListener;
before(async () => {
  inside = await openInside();
  const { context, configuration, pool, imageStore } = inside;
  const pageLimits = { maxPageSize: () => 100, pageSize: () => 20 };
  const { resolvers } = imageApi(serviceWith<ImagesService>({ configuration, imageStore, pageLimits }));
  const typeDefs = await readFile(new URL("../subgraph.graphql", import.meta.url), "utf8");
  const subgraph = createSubgraph({ typeDefs, resolvers, log: context.log, clock: context.clock, pool });
  served = await serveListener(subgraph);
});
after(async () => {
  await served.close();
  await inside.close();
});

const sha256 = "d".repeat(64);
const urlOf = (id: string) =>
  `${inside.configuration.get("http.base-url")}/images/${id}/content?v=${versionOf({ sha256, focalPoint: null })}`;

test("a hundred images of a query are one statement, which leaves out those of other accounts", async () => {
  const { pool } = inside;
  const [owner, other] = [testPerson(), testPerson()];
  await touchBlob(pool, { accountId: owner.accountId, sha256, sizeBytes: 1, mimeType: "image/png" }, new Date());
  const ids = Array.from({ length: 100 }, (_, at) => `img_${String(at).padStart(3, "0")}`);
  const own = ids.slice(0, 98).map((id) => imageRecord({ id, sha256, accountId: owner.accountId }));
  await inside.insert([...own, imageRecord({ id: "img_098", sha256, accountId: other.accountId })]);

  const query = `query ($of: [_Any!]!) { _entities(representations: $of) { ... on Image { id url } } }`;
  const of = ids.map((id) => ({ __typename: "Image", id }));
  const send = createSubgraphClient(served.url);
  const sent = recordStatements(pool);
  const { data } = await send(owner, query, { of });
  const expected = [...own.map(({ id }) => ({ id, url: urlOf(id) })), null, null];
  assert.deepEqual(data._entities, expected);
  assert.deepEqual(sent.length, 1, sent.join("\n"));
});

/** Records the text of every later statement of the pool. */
function recordStatements({ driver }: Pool): string[] {
  const sent: string[] = [];
  const query = driver.query.bind(driver) as (...given: unknown[]) => unknown;
  Object.assign(driver, {
    query(statement: { text: string }, ...rest: unknown[]) {
      sent.push(statement.text);
      return query(statement, ...rest);
    },
  });
  return sent;
}
