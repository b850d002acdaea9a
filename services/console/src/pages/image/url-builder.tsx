import { useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Content, parametersOf, useContent } from "../../parts/content.tsx";
import { Code, Copy } from "../../parts/inline.tsx";
import { ChoiceFilter, Filters, TextFilter, useFilters } from "../../parts/lists.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { useMay } from "../../session/api.ts";
import { bytesText, type Image, nameOf } from "../image-queries.ts";
import { addressOf, type Form, formNames, formOf, htmlOf } from "./content-address.ts";
import styles from "./image.module.css";
import { SignUrl } from "./sign-url.tsx";

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
        <Filters>
          <TextFilter name="width" label="Width" type="number" />
          <TextFilter name="height" label="Height" type="number" />
          <ChoiceFilter name="fit" label="Fit" any="inside" choices={["cover", "contain", "fill", "outside"]} />
          <ChoiceFilter
            name="format"
            label="Format"
            any="the browser's best"
            choices={["jpeg", "png", "webp", "avif", "gif"]}
          />
        </Filters>
        <details>
          <summary>More of the form</summary>
          <Filters label="More of the form">
            <TextFilter name="dpr" label="Pixels of the screen for each" />
            <TextFilter name="quality" label="Quality, 1 to 100 or auto" />
            <ChoiceFilter name="gravity" label="Crops keep" any="the focal point" choices={["attention"]} />
            <TextFilter name="background" label="Background, six hex digits" />
            <ChoiceFilter name="enlarge" label="Larger than the original" any="false" choices={["true"]} />
            <ChoiceFilter name="metadata" label="Metadata" any="none" choices={["copyright"]} />
          </Filters>
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
          "Making it …"
        )}
      </p>
      <Content blob={data} alt={`${nameOf(image)} as this URL shows it`} onSize={setSize} />
    </div>
  );
}
