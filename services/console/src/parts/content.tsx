import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api } from "../session/api.ts";
import styles from "./content.module.css";

/** The header that browsers send for an image of a page, so that format and bytes are those that its readers get. */
const accept = "image/avif,image/webp,image/*,*/*;q=0.8";

export type ContentParameters = Readonly<Record<string, string>>;

/** Reads the content of an image in one form. Its address has a version, so what came once is never asked for again. */
export function useContent(id: string, parameters: ContentParameters) {
  return useQuery({
    queryKey: ["content", id, parameters],
    staleTime: "static",
    gcTime: 60_000,
    queryFn: async ({ signal }) => {
      const answer = await api.images.content(id, parameters, { headers: { Accept: accept }, signal });
      return await answer.blob();
    },
  });
}

/** Returns an address of the bytes for as long as they are shown. */
function useAddress(blob: Blob | undefined): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (!blob) return;
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => {
      setAddress(undefined);
      URL.revokeObjectURL(made);
    };
  }, [blob]);
  return address;
}

interface ContentProps {
  readonly blob: Blob | undefined;
  readonly alt: string;
  readonly className?: string | undefined;
  readonly onSize?: (size: { readonly width: number; readonly height: number }) => void;
}

/** Bytes of an image on the page. Until they are there, their place is kept. */
export function Content({ blob, alt, className, onSize }: ContentProps) {
  const address = useAddress(blob);
  if (address === undefined) return <span className={`${styles.empty} ${className ?? ""}`} />;
  const report = ({ naturalWidth: width, naturalHeight: height }: HTMLImageElement) => onSize?.({ width, height });
  return <img src={address} alt={alt} className={className} onLoad={({ currentTarget }) => report(currentTarget)} />;
}

interface ThumbnailProps {
  readonly image: { readonly id: string; readonly variants: Readonly<Record<string, string>> };
  readonly alt: string;
}

/** The small square of an image, from its named variants. */
export function Thumbnail({ image: { id, variants }, alt }: ThumbnailProps) {
  const { data, isError } = useContent(id, parametersOf(variants.thumbnail ?? ""));
  if (isError) return <span className={`${styles.thumbnail} ${styles.empty}`}>no preview</span>;
  return <Content blob={data} alt={alt} className={styles.thumbnail} />;
}

/** Reads the parameters of an address of content. */
export const parametersOf = (url: string): ContentParameters =>
  Object.fromEntries(new URLSearchParams(url.split("?", 2)[1] ?? ""));
