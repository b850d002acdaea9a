import { EditForm, useEdit } from "../../parts/edit.tsx";
import { Field } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { api, type Versioned, versioned } from "../../session/api.ts";
import { type Image, imageQuery, readImage } from "../image-queries.ts";
import { FocalPoint } from "./focal-point.tsx";
import { bodyOf, type ImageInput, inputOf } from "./image-input.ts";

/** The texts of an image, its audience and its focal point, saved together. */
export function EditImage({ current }: { readonly current: Versioned<Image> }) {
  const { id } = current.data;
  const { queryKey } = imageQuery(id);
  const edit = useEdit({ current, queryKey, inputOf, read: () => readImage(id), save });
  const { input, set } = edit;
  return (
    <EditForm edit={edit} label="Texts and focal point" what="image">
      <h2>Texts and focal point</h2>
      <div className={parts.sides}>
        <div className={parts.page}>
          <Text label="Title" value={input.title} set={(title) => set({ title })} />
          <Text
            label="Alternative text"
            hint="Says what is seen, for people who do not see it."
            lines={3}
            value={input.altText}
            set={(altText) => set({ altText })}
          />
          <Text label="Caption" lines={2} value={input.caption} set={(caption) => set({ caption })} />
          <Text label="Tags" hint="Separated by commas; 50 at most." value={input.tags} set={(tags) => set({ tags })} />
          <Text
            label="File name"
            hint="The name under which people save the image."
            value={input.filename}
            set={(filename) => set({ filename })}
          />
          <Field label="Who sees it">
            {(ids) => (
              <select
                {...ids}
                value={input.visibility}
                onChange={({ target }) => set({ visibility: target.value as Image["visibility"] })}
              >
                <option value="private">only your account, and people with a signed URL</option>
                <option value="public">everyone who has the URL</option>
              </select>
            )}
          </Field>
        </div>
        <FocalPoint image={current.data} point={input.focalPoint} move={(focalPoint) => set({ focalPoint })} />
      </div>
    </EditForm>
  );
}

interface TextProps {
  readonly label: string;
  readonly hint?: string;
  readonly lines?: number;
  readonly value: string;
  readonly set: (value: string) => void;
}

function Text({ label, hint, lines = 1, value, set }: TextProps) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(ids) =>
        lines === 1 ? (
          <input {...ids} value={value} onChange={({ target }) => set(target.value)} />
        ) : (
          <textarea {...ids} rows={lines} value={value} onChange={({ target }) => set(target.value)} />
        )
      }
    </Field>
  );
}

function save(input: ImageInput, { id }: Image, etag: string | null): Promise<Versioned<Image>> {
  const header = etag === null ? {} : { "If-Match": etag };
  const params = { path: { image_id: id }, header };
  return versioned(api.PATCH("/images/{image_id}", { params, body: bodyOf(input) }));
}
