import type { Image } from "@signalbox/client";
import { useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Button, Choice } from "../../parts/button.tsx";
import { Code } from "../../parts/code.tsx";
import { Content, parametersOf, useContent } from "../../parts/content.tsx";
import { SelectField } from "../../parts/fields.tsx";
import { Copy, Time } from "../../parts/inline.tsx";
import { choice, type FilterFields, Filters, useFilters } from "../../parts/lists.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { useChange } from "../../parts/use-change.ts";
import { api, useMay } from "../../session/api.ts";
import { bytesText, nameOf } from "../image-queries.ts";
import { addressOf, bodyOfForm, type Form, formNames, formOf, htmlOf } from "./content-address.ts";
import styles from "./image.module.css";

const mostFields: FilterFields = {
  width: { label: "Width", type: "number" },
  height: { label: "Height", type: "number" },
  fit: choice("Fit", ["cover", "contain", "fill", "outside"], "inside"),
  format: choice("Format", ["jpeg", "png", "webp", "avif", "gif"], "the browser's best"),
};

const moreFields: FilterFields = {
  dpr: "Pixel ratio",
  quality: "Quality, 1 to 100 or auto",
  gravity: choice("Gravity", ["attention"], "the focal point"),
  background: "Background, six hex digits",
  enlarge: choice("Enlarge", ["true"], "false"),
  metadata: choice("Metadata", ["copyright"], "none"),
};

/** Builds the address of an image in any form, and shows what comes from there with its bytes. */
export function UrlBuilder({ image }: { readonly image: Image }) {
  const [search] = useFilters();
  const form = formOf(search);
  const mayWrite = useMay("images:write");
  const address = addressOf(image, form);
  const isPrivate = image.visibility === "private";
  return (
    <div id="url">
      <Panel title="URL">
        <Sizes image={image} />
        <Filters fields={mostFields} />
        <details>
          <summary>More options</summary>
          <Filters label="More options" fields={moreFields} />
        </details>
        <Code text={address} label="address" isPlain />
        <div className={parts.row}>
          <Copy text={address}>Copy URL</Copy>
          <Copy text={htmlOf(image, form)}>Copy HTML</Copy>
        </div>
        {isPrivate && (
          <p className={parts.quiet}>
            The image is private: this URL needs a credential of your account. A signed URL shows it to everyone who has
            that URL.
          </p>
        )}
        {mayWrite && isPrivate && <SignUrl key={address} id={image.id} form={form} />}
        <Preview key={address} image={image} address={address} />
      </Panel>
    </div>
  );
}

/** The forms that most pages need, each by a press. */
function Sizes({ image: { variants } }: { readonly image: Image }) {
  const [search, change] = useFilters();
  const none = Object.fromEntries(formNames.map((name) => [name, undefined]));
  const forms: ReadonlyArray<readonly [name: string, form: Form]> = [
    ["original size", {}],
    ...Object.entries(variants).map(([name, url]) => [name, formOf(parametersOf(url))] as const),
  ];
  const now = forms.find(([, form]) => formNames.every((name) => (form[name] ?? "") === (search[name] ?? "")));
  return (
    <Choice
      label="Sizes"
      choices={forms.map(([name]) => name)}
      chosen={now?.[0] ?? null}
      choose={(chosen) => change({ ...none, ...forms.find(([name]) => name === chosen)?.[1] })}
    />
  );
}

function Preview({ image, address }: { readonly image: Image; readonly address: string }) {
  const { data, error, refetch } = useContent(image.id, parametersOf(address));
  const [size, setSize] = useState<{ readonly width: number; readonly height: number } | null>(null);
  if (error) return <Failure error={error} what="preview" retry={() => void refetch()} />;
  return (
    <div className={styles.preview}>
      <p role="status">
        {data ? (
          <>
            <strong>{bytesText(data.size)}</strong>, {data.type}
            {size && `, ${size.width} × ${size.height}`}; the original has {bytesText(image.size_bytes)}
          </>
        ) : (
          "Rendering …"
        )}
      </p>
      <Content blob={data} alt={`${nameOf(image)} as this URL shows it`} onSize={setSize} />
    </div>
  );
}

const lifetimes = [
  ["3600", "an hour"],
  ["86400", "a day"],
  ["604800", "a week"],
] as const;

/** Signs the address that is built: everyone who has it sees the image in this form until it ends. */
function SignUrl({ id, form }: { readonly id: string; readonly form: Form }) {
  const [lifetime, setLifetime] = useState("86400");
  const signing = useChange(() =>
    api.images.createSignedUrl(id, { ...bodyOfForm(form), expires_in_seconds: Number(lifetime) }),
  );
  const { data: signed } = signing;
  return (
    <div className={parts.page}>
      <div className={parts.filters}>
        <SelectField label="Valid for" choices={lifetimes} value={lifetime} set={setLifetime} />
        <Button label="Sign the URL" change={signing} />
      </div>
      {signing.error && <Failure error={signing.error} what="image" />}
      {signed && "url" in signed && (
        <>
          <Code text={signed.url} label="signed URL" isPlain />
          <div className={parts.row}>
            <Copy text={signed.url}>Copy signed URL</Copy>
            <span>
              It expires <Time at={signed.expires_at} />.
            </span>
          </div>
        </>
      )}
    </div>
  );
}
