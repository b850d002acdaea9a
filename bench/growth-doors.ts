import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { openPool, sql } from "@signalbox/storage";
import { readFixture, testPerson } from "@signalbox/testing";
import { benchParts, percentile, rounded } from "./bench-parts.ts";
import { startConfigService } from "./config-service.ts";
import { type Grown, middleOfRounds, pageP99Ms, settle } from "./growth-waits.ts";
import { startImagesService, uploadImage } from "./images-service.ts";
import { numeral } from "./numbers.ts";
import { pacedLoad } from "./paced-load.ts";

const streams = { few: 100, many: 10_000 };
const images = { few: 10_000, many: 1_000_000 };
const uploads = 100;
const wantedTimes = 1.5;

/** Reads of a configuration that many streams follow. */
export async function growStreams(): Promise<Grown> {
  await using opened = new AsyncDisposableStack();
  const service = await startConfigService();
  opened.defer(() => service.close());
  const path = fileURLToPath(new URL("./stream-followers.ts", import.meta.url));
  const follow = async (count: number) => {
    const stream = `${service.url}/api/v1/config/stream`;
    const followers = fork(path, [stream, String(count), service.headers.authorization ?? ""]);
    opened.defer(() => void followers.kill());
    await once(followers, "message");
  };
  const round = async () => {
    const load = { url: `${service.url}/api/v1/config/`, perSecond: 100, seconds: 6, connections: 16 };
    const tookMs = await pacedLoad({ ...load, next: () => ({ headers: service.headers }) });
    return { read: rounded(percentile(tookMs, 0.99)) };
  };
  await follow(streams.few);
  await round();
  const few = await middleOfRounds(round);
  await follow(streams.many - streams.few);
  const name = `${numeral(streams.many)} open streams for ${streams.few}`;
  return { name, wantedTimes, unit: "ms", kind: "p99", few, many: await middleOfRounds(round) };
}

/** Uploads and the first page of an account that has many images. */
export async function growImages(): Promise<Grown> {
  await using opened = new AsyncDisposableStack();
  const service = await startImagesService();
  opened.defer(() => service.close());
  const owner = testPerson();
  const photo = await readFixture("photo.jpg");
  const upload = () => uploadImage(service, owner, Buffer.concat([photo, randomBytes(16)]));
  const round = async () => {
    const tookMs: number[] = [];
    while (tookMs.length < uploads) {
      const startedMs = performance.now();
      await upload();
      tookMs.push(performance.now() - startedMs);
    }
    return {
      accept: rounded(percentile(tookMs, 0.99)),
      "first page": await pageP99Ms(() => fetch(`${service.url}/images?limit=20`, { headers: owner.headers })),
    };
  };
  const id = await upload();
  const grow = (from: number, to: number) => addImages(service.databaseUrl, id, { from, to });
  await grow(1, images.few);
  await round();
  const few = await middleOfRounds(round);
  await grow(images.few + 1, images.many);
  const name = `${numeral(images.many)} images for ${numeral(images.few)}`;
  return { name, wantedTimes, unit: "ms", kind: "p99", few, many: await middleOfRounds(round) };
}

/** Copies an image of the account, each copy a second older than the one before. */
async function addImages(
  url: string,
  id: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const parts = { ...benchParts(), runner: { defer: () => {} } };
  const pool = openPool({ ...parts, url, max: 1, applicationName: "bench", statementTimeoutMs: 3_600_000 });
  await pool.query(
    sql(
      "",
      `insert into images select (jsonb_populate_record(i, jsonb_build_object(
         'id', 'img_' || lpad(to_hex(nth), 26, '0'),
         'filename', nth || '.jpg',
         'created_at', i.created_at - nth * interval '1 second',
         'updated_at', i.updated_at - nth * interval '1 second'))).*
       from images as i, generate_series($2::int, $3::int) as nth where i.id = $1`,
    ),
    [id, from, to],
  );
  await settle(pool, ["images"]);
  await pool.close();
}
