/** One source of generated files. To add one: write a file in `generators/` and name it in the list of `generators.ts`. */
export interface Generator {
  readonly name: string;
  /**
   * `committed` files are in git, and `npm run check` fails when one is stale.
   * `built` files are ignored by git and made by the set-up of every command, so they are needed to run.
   */
  readonly kind: "committed" | "built";
  /** Folders that hold nothing else: a file in them that is no longer generated is removed. */
  readonly folders: () => Promise<readonly string[]>;
  /** The whole content of every file, by its path from the root of the repository. */
  readonly generate: () => Promise<ReadonlyMap<string, string>>;
}
