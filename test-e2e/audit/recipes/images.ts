import type { Person, World } from "../world.ts";
import { type Attempt, fresh, graph, mutation, type Recipe, type Recipes, rest } from "./attempt.ts";

const image = (make: (person: Person, id: string) => Attempt): Recipe =>
  fresh(async (person, world) => {
    const { path, request } = upload(person, world);
    return make(person, (await world.send(person.headers, path, request)).json.id);
  });

function upload(person: Person, { photo }: World): Attempt {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(photo)], { type: "image/jpeg" }), "photo.jpg");
  return rest(person, "POST", "/images", form);
}

const announcement = (photo: Uint8Array) => ({
  filename: "photo.jpg",
  mime_type: "image/jpeg",
  size_bytes: photo.length,
});

/** A write to an upload whose bytes were sent. */
const sentUpload = (make: (person: Person, id: string) => Attempt): Recipe =>
  fresh(async (person, { send, photo }) => {
    const announced = (await send(person.headers, "/images/uploads", { body: announcement(photo) })).json;
    const { id, method, url, headers } = announced;
    const body = Buffer.from(photo);
    // A URL of the object store is itself a credential, and allows no other beside it.
    if (method === "PUT") await send(headers, url, { method, body });
    else await send({ ...person.headers, ...headers }, `/images/uploads/${id}`, { method, body });
    return make(person, id);
  });

/** Recipes of each audited write to images. */
export const imagesRecipes: Recipes = {
  "POST /images": fresh(upload),
  "POST /images/import": fresh((person, { photoUrl: source_url }) =>
    rest(person, "POST", "/images/import", { source_url }),
  ),
  "PATCH /images/{image_id}": image((person, id) => rest(person, "PATCH", `/images/${id}`, { title: "Hills" })),
  "PUT /images/{image_id}": image((person, id) => rest(person, "PUT", `/images/${id}`, { filename: "hills.jpg" })),
  "POST /images/uploads": fresh((person, { photo }) => rest(person, "POST", "/images/uploads", announcement(photo))),
  "DELETE /images/uploads/{upload_id}": sentUpload((person, id) => rest(person, "DELETE", `/images/uploads/${id}`)),
  "POST /images/uploads/{upload_id}/complete": sentUpload((person, id) =>
    rest(person, "POST", `/images/uploads/${id}/complete`, {}),
  ),
  "POST /images/signing-keys/rotate": fresh((person) => rest(person, "POST", "/images/signing-keys/rotate")),
  "POST /images/{image_id}/reprocess": image((person, id) => rest(person, "POST", `/images/${id}/reprocess`)),
  "POST /images/{image_id}/signed-urls": image((person, id) =>
    rest(person, "POST", `/images/${id}/signed-urls`, { expires_in_seconds: 60 }),
  ),
  "DELETE /images/{image_id}": image((person, id) => rest(person, "DELETE", `/images/${id}`)),
  "POST /images/delete": image((person, id) => rest(person, "POST", "/images/delete", { ids: [id] })),
  "Mutation.updateImage": image((person, id) =>
    mutation(person, `updateImage(id: "${id}", input: { title: "Hills" })`),
  ),
  "Mutation.importImage": fresh((person, { photoUrl: sourceUrl }) =>
    graph(person, "importImage", "ImportImageInput", { sourceUrl }),
  ),
  "Mutation.reprocessImage": image((person, id) => mutation(person, `reprocessImage(id: "${id}")`)),
  "Mutation.createImageUpload": fresh((person, { photo }) => {
    const { filename, mime_type: mimeType, size_bytes: sizeBytes } = announcement(photo);
    return graph(person, "createImageUpload", "CreateImageUploadInput", { filename, mimeType, sizeBytes });
  }),
  "Mutation.completeImageUpload": sentUpload((person, id) =>
    mutation(person, `completeImageUpload(id: "${id}", input: {})`),
  ),
  "Mutation.createSignedImageUrl": image((person, id) =>
    mutation(person, `createSignedImageUrl(id: "${id}", input: { expiresInSeconds: 60 })`),
  ),
  "Mutation.deleteImages": image((person, id) => graph(person, "deleteImages", "DeleteImagesInput", { ids: [id] })),
  "Mutation.deleteImage": image((person, id) => mutation(person, `deleteImage(id: "${id}")`)),
};
