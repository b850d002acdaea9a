import type { Image } from "@signalbox/client";

/** The parameters of the content of an image, which say in which form it is shown; the address of its page has them. */
export const formNames = [
  ...(["width", "height", "fit", "format", "dpr", "quality"] as const),
  ...(["gravity", "background", "enlarge", "metadata"] as const),
];

export type Form = { readonly [Name in (typeof formNames)[number]]?: string };

/** Takes the parameters of a form, without what was left empty. */
export const formOf = (search: Readonly<Record<string, string | undefined>>): Form =>
  Object.fromEntries(formNames.flatMap((name) => (search[name] ? [[name, search[name]]] : [])));

/** Writes the address of an image in a form. The version stays, so that caches keep it for long. */
export function addressOf({ url }: Pick<Image, "url">, form: Form): string {
  const address = new URL(url);
  const version = address.searchParams.get("v");
  address.search = new URLSearchParams({ ...form, ...(version !== null && { v: version }) } as never).toString();
  return address.href;
}

/** Widths about half as many pixels again as the one before; each may be asked for by everybody in any deployment. */
const widths = [384, 640, 960, 1280, 1920];

/** Writes the HTML of an image for a page: one that is narrower on narrow screens, and keeps its place while it loads. */
export function htmlOf(image: Image, form: Form): string {
  const { width, height, alt_text: alt } = image;
  const { width: own, height: fixed, ...look } = form;
  if (fixed !== undefined || own !== undefined) {
    const shown = shownSize(image, form);
    return `<img src="${quoted(addressOf(image, form))}" width="${shown.width}" height="${shown.height}" alt="${quoted(alt ?? "")}" loading="lazy">`;
  }
  const sources = widths
    .filter((one) => one <= width)
    .map((one) => `${addressOf(image, { ...look, width: String(one) })} ${one}w`);
  const set = sources.length > 0 ? ` srcset="${quoted(sources.join(", "))}" sizes="100vw"` : "";
  const src = quoted(addressOf(image, form));
  return `<img src="${src}"${set} width="${width}" height="${height}" alt="${quoted(alt ?? "")}" loading="lazy">`;
}

/** The size in which a form comes: a box that the image only fits into would stretch it. */
function shownSize({ width, height }: Pick<Image, "width" | "height">, form: Form) {
  const across = form.width === undefined ? Number.POSITIVE_INFINITY : Number(form.width) / width;
  const down = form.height === undefined ? Number.POSITIVE_INFINITY : Number(form.height) / height;
  const { fit = "inside", enlarge } = form;
  if (Number.isFinite(across) && Number.isFinite(down) && !["inside", "outside"].includes(fit))
    return { width: Number(form.width), height: Number(form.height) };
  const wanted = fit === "outside" && Number.isFinite(across + down) ? Math.max(across, down) : Math.min(across, down);
  const scale = enlarge === "true" ? wanted : Math.min(1, wanted);
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
}

const quoted = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/** Writes a form as the API takes it in JSON: numbers and a yes or no, where the address has texts. */
export function bodyOfForm(form: Form): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(form).map(([name, text]) => {
      if (name === "enlarge") return [name, text === "true"];
      const isNumber = ["width", "height", "dpr", "quality"].includes(name) && text !== "auto";
      return [name, isNumber ? Number(text) : text];
    }),
  );
}
