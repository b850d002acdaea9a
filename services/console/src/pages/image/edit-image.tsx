import { EditForm, useEdit } from "../../parts/edit.tsx";
import { Fields, type FieldsData } from "../../parts/form.tsx";
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
  return (
    <EditForm edit={edit} label="Texts and focal point" what="image">
      <h2>Texts and focal point</h2>
      <div className={parts.sides}>
        <div className={parts.page}>
          <Fields input={input} set={set} fields={texts} />
        </div>
        <FocalPoint image={current.data} point={input.focalPoint} move={(focalPoint) => set({ focalPoint })} />
      </div>
    </EditForm>
  );
}

const texts: FieldsData<ImageInput> = {
  title: { label: "Title", isProse: true },
  altText: {
    label: "Alternative text",
    hint: "Says what is seen, for people who do not see it.",
    rows: 3,
    isProse: true,
  },
  caption: { label: "Caption", rows: 2, isProse: true },
  tags: { label: "Tags", hint: "Separated by commas; 50 at most." },
  filename: { label: "File name", hint: "The name under which people save the image." },
  visibility: { label: "Who sees it", choices: audienceChoices },
};

function save(input: ImageInput, { id }: Image, etag: string | null): Promise<Versioned<Image>> {
  const params = { path: { image_id: id }, header: ifMatch(etag) };
  return versioned(api.PATCH("/images/{image_id}", { params, body: bodyOf(input) }));
}
