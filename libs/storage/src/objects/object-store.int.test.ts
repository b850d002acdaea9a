import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { testContext, testS3 } from "@signalbox/testing";
import { objectStoreContract } from "./object-store.contract.ts";
import type { ObjectStore } from "./object-store.ts";
import { openObjectStore } from "./open-object-store.ts";

const { log, runner, close } = testContext("images", {});
let folder: string;
let file: ObjectStore;
let s3: ObjectStore;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "signalbox-blobs-"));
  file = await openObjectStore({ url: `file:${folder}`, accessKey: null, secretKey: null, runner, log });
  const { url, accessKey, secretKey } = await testS3();
  s3 = await openObjectStore({ url, accessKey, secretKey, runner, log });
});

after(async () => {
  await close();
  await rm(folder, { recursive: true });
});

objectStoreContract("files", () => file);
objectStoreContract("S3", () => s3);
