import assert from "node:assert/strict";
import { readdir, readlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { childProcesses, eventually, killProcess, readFixture, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

const kills = 100;
const inFlight = 4;
const decoders = () => childProcesses("image-process");

/** Lists the folders of the child processes, in the pool's own. */
async function scratchFolders(): Promise<string[]> {
  const [pid] = await eventually(async () => {
    const alive = await decoders();
    return alive.length > 0 ? alive : null;
  });
  const own = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  return own ? readdir(dirname(own)) : scratchFolders();
}

/** Lists every file on disk that is neither an original nor a stored rendition. */
async function strayFiles({ blobsFolder }: Harness): Promise<string[]> {
  const found = await readdir(blobsFolder, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => relative(blobsFolder, join(parentPath, name)));
  return paths.filter((path) => !/^(originals|renditions)\//.test(path));
}

test("each of a hundred children killed under load costs no more than its own request", async () => {
  const who = testPerson();
  const images = await startImages({
    "images.render.wait-max": 60_000,
    "images.render.memory": 0,
    "http.rate-limit.credential.requests": 1_000_000,
    "http.rate-limit.credential.burst": 1_000_000,
    "http.rate-limit.account.requests": 1_000_000,
  });
  try {
    const { id } = (await images.upload(who, await readFixture("photo.jpg"))).body;
    const [answered, refused]: [number[], string[]] = [[], []];
    let killed = 0;
    const ask = async (caller: number) => {
      for (let at = 0; killed < kills; at++) {
        // Other bytes each time, so that no request shares another's work.
        const path = `/images/${id}/content?width=${200 + at}&height=${1000 + caller}&format=jpeg`;
        const { status } = await images.send(who, "GET", path);
        answered.push(status);
        if (status !== 200) refused.push(path);
      }
    };
    const kill = async () => {
      while (killed < kills) {
        // Some have just started, some are in the middle, some are idle.
        const from = answered.length;
        const wanted = Math.floor(Math.random() * 3);
        await eventually(() => answered.length >= from + wanted);
        const alive = await eventually(async () => {
          const pids = await decoders();
          return pids.length > 0 ? pids : null;
        });
        if (killProcess(alive[Math.floor(Math.random() * alive.length)] as number)) killed++;
      }
    };
    await Promise.all([kill(), ...Array.from({ length: inFlight }, (_, caller) => ask(caller))]);

    assert.deepEqual(
      [...new Set(answered)].filter((status) => status !== 200 && status !== 503),
      [],
    );
    assert.ok(refused.length <= kills, `${refused.length} requests for ${kills} children`);
    for (const path of refused) assert.equal((await images.send(who, "GET", path)).status, 200, path);
    const both = [900, 901].map((width) => images.send(who, "GET", `/images/${id}/content?width=${width}`));
    assert.deepEqual(
      (await Promise.all(both)).map(({ status }) => status),
      [200, 200],
    );
    assert.equal((await images.upload(who, await readFixture("alpha.png"))).status, 201);
    await eventually(async () => assert.equal((await scratchFolders()).length, (await decoders()).length));
    await eventually(async () => assert.deepEqual(await strayFiles(images), []));
  } finally {
    await images.close();
  }
});
