import { EditForm, useEdit } from "../../parts/edit.tsx";
import { fieldsOf, SelectField, TextArea, TextField } from "../../parts/fields.tsx";
import parts from "../../parts/parts.module.css";
import { api, ifMatch, type Versioned, versioned } from "../../session/api.ts";
import { audienceChoices, type Image, imageQuery, readImage } from "../image-queries.ts";
import { FocalPoint } from "./focal-point.tsx";
import { bodyOf, type ImageInput, inputOf } from "./image-input.ts";

/** The texts of an image, its audience and its focal point, saved together. */
export function EditImage({ current }: { readonly current: Versioned<Image> }) {
  const { id } = current.data;
  const { queryKey } = imageQuery(id);
  const edit = useEdit({ current, queryKey, inputOf, read: () => readImage(id), save });
  const { input, set } = edit;
  const field = fieldsOf(input, set);
  return (
    <EditForm edit={edit} label="Texts and focal point" what="image">
      <h2>Texts and focal point</h2>
      <div className={parts.sides}>
        <div className={parts.page}>
          <TextField label="Title" {...field("title")} />
          <TextArea
            label="Alternative text"
            hint="Says what is seen, for people who do not see it."
            rows={3}
            {...field("altText")}
          />
          <TextArea label="Caption" rows={2} {...field("caption")} />
          <TextField label="Tags" hint="Separated by commas; 50 at most." {...field("tags")} />
          <TextField label="File name" hint="The name under which people save the image." {...field("filename")} />
          <SelectField label="Who sees it" choices={audienceChoices} {...field("visibility")} />
        </div>
        <FocalPoint image={current.data} point={input.focalPoint} move={(focalPoint) => set({ focalPoint })} />
      </div>
    </EditForm>
  );
}

function save(input: ImageInput, { id }: Image, etag: string | null): Promise<Versioned<Image>> {
  const params = { path: { image_id: id }, header: ifMatch(etag) };
  return versioned(api.PATCH("/images/{image_id}", { params, body: bodyOf(input) }));
}
