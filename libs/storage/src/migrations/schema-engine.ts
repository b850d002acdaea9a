import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { bindMigrationAwareSqlAdapterFactory } from "@prisma/driver-adapter-utils";
import type { SchemaEngine } from "@prisma/schema-engine-wasm";
import { shadowAdapter } from "./shadow-adapter.ts";

/** Part of Node, but declared only in the browser types, which are not loaded. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: Record<string, object>): Promise<{ instance: { exports: object } }>;
};

type Bindings = typeof import("@prisma/schema-engine-wasm/schema_engine_bg");

let loading: Promise<Bindings> | undefined;

/**
 * Runs `work` with Prisma's schema engine as WebAssembly, for authoring and checking migrations; a start does not need
 * it. `url` is any database of a PostgreSQL engine: to compare migrations, the schema engine builds them in a shadow
 * database.
 */
export async function withSchemaEngine<T>(
  url: string,
  schema: { path: string; content: string },
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  loading ??= load();
  const { SchemaEngine: Engine } = await loading;
  const adapter = shadowAdapter(url);
  try {
    const bound = bindMigrationAwareSqlAdapterFactory(adapter);
    const engine = await Engine.new({ datamodels: [[schema.path, schema.content]] }, () => {}, bound);
    return await work(engine).finally(() => engine.free());
  } finally {
    await adapter.close();
  }
}

/** Node does not load WebAssembly by `import`, as the package's own entry point expects of a bundler. */
async function load(): Promise<Bindings> {
  const bindings = (await import("@prisma/schema-engine-wasm/schema_engine_bg")) as Bindings;
  const file = createRequire(import.meta.url)
    .resolve("@prisma/schema-engine-wasm/schema_engine_bg")
    .replace(/\.js$/, ".wasm");
  const { instance } = await WebAssembly.instantiate(await readFile(file), {
    "./schema_engine_bg.js": bindings,
  });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports as { __wbindgen_start(): void }).__wbindgen_start();
  return bindings;
}
