/** Thrown when generating needs the packages for development, which a start does not install. */
export class NeedsDevelopmentError extends Error {}

/**
 * One source of generated files. To add one: write a file in `generators/` and add it to the list of `generators.ts`.
 */
export interface Generator {
  readonly name: string;
  /**
   * `committed` files are in git, and `npm run check` fails when one is stale.
   * `built` files are ignored by git and made by the set-up of every command: processes and the type check need them.
   * `offered` files are ignored by git and made by `npm run generate` alone: people use them, and nothing here does.
   */
  readonly kind: "committed" | "built" | "offered";
  /** A development package that it works with. Set-up leaves the generator out where only what runs is installed. */
  readonly needs?: string;
  /** Folders with only generated files: a file in them that is no longer generated is removed. */
  readonly folders: () => Promise<readonly string[]>;
  /** Generates the content of every file, by its path from the root of the repository. */
  readonly generate: () => Promise<ReadonlyMap<string, string>>;
}
