import assert from "node:assert/strict";
import { mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { reservePort } from "./free-port.ts";

const folder = await mkdtemp(join(tmpdir(), "signalbox-ports-"));
after(() => rm(folder, { recursive: true }));

test("of many who reach for a port one gets it", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => reservePort(20_001, folder)));
  assert.equal(answers.filter((isMine) => isMine).length, 1);
  assert.equal(await reservePort(20_002, folder), true, "another port is another matter");
});

test("a reservation ends by itself", async () => {
  assert.equal(await reservePort(20_003, folder, 60_000), true);
  const [now, before] = [new Date(), new Date(Date.now() - 61_000)];
  await utimes(join(folder, "20003"), now, before);
  assert.equal(await reservePort(20_003, folder, 60_000), true);
  assert.equal(await reservePort(20_003, folder, 60_000), false, "whoever takes it over has it for as long");
});
