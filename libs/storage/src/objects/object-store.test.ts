import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { testContext } from "@signalbox/testing";
import { objectStoreContract } from "./object-store.contract.ts";
import type { ObjectStore } from "./object-store.ts";
import { openObjectStore } from "./open-object-store.ts";

const { log, runner, close } = testContext("images", {});
let folder: string;
let store: ObjectStore;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "signalbox-blobs-"));
  store = await openObjectStore({ url: `file:${folder}`, accessKey: null, secretKey: null, runner, log });
});
after(async () => {
  await close();
  await rm(folder, { recursive: true });
});

objectStoreContract("files", () => store);
