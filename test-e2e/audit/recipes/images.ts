import { photoForm } from "../../journey/client.ts";
import type { World } from "../world.ts";
import { type Prepare, type Recipes, recipesOf, someone } from "./attempt.ts";

const image: Prepare = async (world) => {
  const { by, ids } = await someone(world);
  const { id } = (await world.send(by, "/images", { method: "POST", body: photoForm(world.photo) })).json;
  return { by, ids: { ...ids, id, image_id: id } };
};

const announcement = ({ photo }: World) => ({
  filename: "photo.jpg",
  mime_type: "image/jpeg",
  size_bytes: photo.length,
});

/** An upload whose bytes were sent. */
const sentUpload: Prepare = async (world) => {
  const { by, ids } = await someone(world);
  const announced = (await world.send(by, "/images/uploads", { body: announcement(world) })).json;
  const { id, method, url, headers } = announced;
  const body = Buffer.from(world.photo);
  // A URL of the object store is itself a credential, and allows no other beside it.
  if (method === "PUT") await world.send(headers, url, { method, body });
  else await world.send({ ...by, ...headers }, `/images/uploads/${id}`, { method, body });
  return { by, ids: { ...ids, id, upload_id: id } };
};

/** A key that the owner holds. */
const signingKey: Prepare = async (world) => {
  const { by, ids } = await someone(world);
  const { id } = (await world.send(by, "/images/signing-keys", { method: "POST" })).json;
  return { by, ids: { ...ids, id, key_id: id } };
};

/** A transformation named `card`. */
const transformation: Prepare = async (world) => {
  const { by, ids } = await someone(world);
  await world.send(by, "/images/transformations/card", { method: "PUT", body: { form: { width: 480 } } });
  return { by, ids: { ...ids, name: "card" } };
};

/** Recipes of each audited write to images. */
export const imagesRecipes: Recipes = {
  ...recipesOf(someone, {
    "POST /images": (_, world) => photoForm(world.photo),
    "POST /images/import": (_, { photoUrl: source_url }) => ({ source_url }),
    "POST /images/uploads": (_, world) => announcement(world),
    "POST /images/signing-keys/rotate": null,
    "POST /images/signing-keys": null,
    "Mutation.importImage": (_, { photoUrl: sourceUrl }) => ({ sourceUrl }),
    "Mutation.createImageUpload": (_, world) => {
      const { filename, mime_type: mimeType, size_bytes: sizeBytes } = announcement(world);
      return { filename, mimeType, sizeBytes };
    },
  }),
  ...recipesOf(signingKey, {
    "POST /images/signing-keys/{key_id}/rotate": { overlap_seconds: 0 },
    "DELETE /images/signing-keys/{key_id}": null,
  }),
  ...recipesOf(image, {
    "PATCH /images/{image_id}": { title: "Hills" },
    "PUT /images/{image_id}": { filename: "hills.jpg" },
    "POST /images/{image_id}/reprocess": null,
    "POST /images/{image_id}/signed-urls": { expires_in_seconds: 60 },
    "DELETE /images/{image_id}": null,
    "POST /images/delete": ({ ids: { id } }) => ({ ids: [id] }),
    "Mutation.updateImage": 'updateImage(id: {id}, input: { title: "Hills" })',
    "Mutation.reprocessImage": "reprocessImage(id: {id})",
    "Mutation.createSignedImageUrl": "createSignedImageUrl(id: {id}, input: { expiresInSeconds: 60 })",
    "Mutation.deleteImages": ({ ids: { id } }) => ({ ids: [id] }),
    "Mutation.deleteImage": "deleteImage(id: {id})",
  }),
  ...recipesOf(transformation, {
    "PUT /images/transformations/{name}": { form: { width: 960 } },
    "DELETE /images/transformations/{name}": null,
    "Mutation.setImageTransformation": "setImageTransformation(name: {name}, input: { form: { width: 960 } })",
    "Mutation.deleteImageTransformation": "deleteImageTransformation(name: {name})",
  }),
  ...recipesOf(sentUpload, {
    "DELETE /images/uploads/{upload_id}": null,
    "POST /images/uploads/{upload_id}/complete": {},
    "Mutation.completeImageUpload": "completeImageUpload(id: {id}, input: {})",
  }),
};
