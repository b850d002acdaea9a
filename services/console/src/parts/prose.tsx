/** A sentence of the API, in which backticks mark code. */
export function Prose({ text }: { readonly text: string }) {
  const pieces = text.split("`").map((piece, at) => ({ piece, at }));
  return <>{pieces.map(({ piece, at }) => (at % 2 === 1 ? <code key={at}>{piece}</code> : piece))}</>;
}
