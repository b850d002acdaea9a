import { pathTo } from "../attacks/groups/owned-things.ts";
import { recipes } from "../audit/recipes/recipes.ts";
import { publishedRoutes } from "../outside/published-routes.ts";
import type { AbortScene } from "./scene.ts";
import { streamTargets } from "./streams.ts";
import type { Target } from "./wire.ts";

/** Lists every operation of the OpenAPI documents, every field of the graph that declares access, and every stream. */
export async function targetsOf(scene: AbortScene): Promise<readonly Target[]> {
  const reads = scene.reads.map(({ name, attempt }) => ({ name, make: () => Promise.resolve(attempt) }));
  const writes = Object.entries(recipes).map(([name, recipe]) => ({ name, make: () => recipe(scene.world) }));
  const prepared = [...reads, ...writes];
  const names = new Set(prepared.map(({ name }) => withoutSlash(name)));
  const others = (await otherOperations(scene)).filter(({ name }) => !names.has(withoutSlash(name)));
  return [...prepared, ...others, pieceOfUpload(scene), ...streamTargets(scene)];
}

const withoutSlash = (name: string): string => name.replace(/\/$/, "");

/** Operations without a recipe: they change nothing that is audited, or are open to everybody. */
async function otherOperations({ system, owner }: AbortScene): Promise<Target[]> {
  const routes = await publishedRoutes(system);
  return routes.flatMap(({ path: template, methods }) =>
    methods.map((lower) => {
      const method = lower.toUpperCase();
      const path = pathTo(template, owner.things) ?? template.replaceAll(/\{\w+\}/g, "none");
      const hasBody = method === "POST" || method === "PUT" || method === "PATCH";
      const attempt = { by: owner.headers, path, request: { method, ...(hasBody && { body: {} }) } };
      return { name: `${method} ${template}`, make: () => Promise.resolve(attempt) };
    }),
  );
}

/** A piece of a resumable upload, which is large enough for many packets. */
function pieceOfUpload({ world }: AbortScene): Target {
  const bytes = Buffer.alloc(400_000, world.photo);
  const announced = { filename: "photo.jpg", mime_type: "image/jpeg", size_bytes: bytes.length };
  return {
    name: "a piece of an upload",
    async make() {
      const { headers } = await world.person();
      const { id, headers: piece } = (await world.send(headers, "/images/uploads", { body: announced })).json;
      const request = { method: "PATCH", headers: piece, body: bytes };
      return { by: headers, path: `/images/uploads/${id}`, request };
    },
  };
}
