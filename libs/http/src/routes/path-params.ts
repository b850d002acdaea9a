/** The names of the parameters in a path: `"image_id"` for `/images/:image_id/content`. */
type PathParamName<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? Name | PathParamName<`/${Tail}`>
    : Rest
  : never;

/** Path parameters as text, decoded. */
export type PathParams<Path extends string> = { readonly [Name in PathParamName<Path>]: string };

/** The names of the parameters in a path, in order. */
export function pathParamNames(path: string): string[] {
  return [...path.matchAll(/:([A-Za-z_]\w*)/g)].map((match) => match[1] as string);
}
