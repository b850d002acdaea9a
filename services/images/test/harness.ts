import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock } from "@signalbox/core";
import { openObjectStore } from "@signalbox/storage";
import {
  type Overrides,
  type StartedService,
  startService,
  type TestAnswer,
  type TestPerson,
} from "@signalbox/testing";
import { properties } from "../src/properties.ts";
import { createService } from "../src/service.ts";

/** The folder of this service's migrations. */
export const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

/** The images service with a folder of blobs of its own. */
export interface Harness extends StartedService<typeof properties> {
  readonly blobsFolder: string;
  readonly stagingFolder: string;
  upload(
    who: TestPerson,
    file: Buffer,
    fields?: Record<string, string | string[]>,
    filename?: string,
  ): Promise<TestAnswer>;
  /** Lists the keys in the blob store. */
  blobKeys(): Promise<string[]>;
  putBlob(key: string, bytes: Buffer): Promise<void>;
}

export async function startImages(
  overrides: Overrides<typeof properties> = {},
  options: { readonly clock?: Clock } = {},
): Promise<Harness> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-images-test-"));
  const service = await startService({
    name: "images",
    properties,
    createService,
    topics: ["signalbox.image.v1", "signalbox.image-render.v1"],
    overrides: {
      "blobs.url": `file:${folder}`,
      "images.import.allow": "127.0.0.1:*",
      "images.upload.directory": folder,
      ...overrides,
    },
    ...options,
  });
  const { context, send, close } = service;
  const [url, accessKey, secretKey] = (["blobs.url", "blobs.access-key", "blobs.secret-key"] as const).map((name) =>
    context.configuration.get(name),
  );
  const blobs = await openObjectStore({
    ...context,
    url: url ?? "",
    accessKey: accessKey ?? null,
    secretKey: secretKey ?? null,
  });

  return {
    ...service,
    blobsFolder: folder,
    stagingFolder: folder,
    upload(who, file, fields = {}, filename = "photo.jpg") {
      const form = new FormData();
      for (const [name, values] of Object.entries(fields))
        for (const value of [values].flat()) form.append(name, value);
      form.append("file", new Blob([new Uint8Array(file)]), filename);
      return send(who, "POST", "/images", { body: form });
    },
    putBlob: async (key, bytes) => void (await blobs.put(key, bytes, { size: bytes.length, contentType: "image/png" })),
    async blobKeys() {
      const keys = [];
      for (const prefix of ["originals/", "renditions/"]) {
        const { objects } = await blobs.list(prefix, { limit: 1000 });
        keys.push(...objects.map(({ key }) => key));
      }
      return keys;
    },
    async close() {
      await close();
      await rm(folder, { recursive: true });
    },
  };
}
