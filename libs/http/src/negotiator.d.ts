declare module "negotiator" {
  /** Content negotiation, RFC 9110 §12.5. The package brings no types of its own. */
  class Negotiator {
    constructor(request: { readonly headers: Readonly<Record<string, string>> });
    /** Returns the one of `available` that the client prefers, or undefined. */
    mediaType(available: string[]): string | undefined;
    /** Returns the one of `available` codings that the client prefers, or undefined. */
    encoding(available: string[]): string | undefined;
    /** Returns the languages that the client accepts, the preferred first. */
    languages(): string[];
  }
  export = Negotiator;
}
