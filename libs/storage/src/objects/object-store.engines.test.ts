import { after, before } from "node:test";
import { testContext, testS3 } from "@signalbox/testing";
import { objectStoreContract } from "./object-store.contract.ts";
import type { ObjectStore } from "./object-store.ts";
import { openObjectStore } from "./open-object-store.ts";

const { log, runner, close } = testContext("images", {});
let store: ObjectStore;
before(async () => {
  const { url, accessKey, secretKey } = await testS3();
  store = await openObjectStore({ url, accessKey, secretKey, runner, log });
});
after(close);

objectStoreContract("S3", () => store);
