import type { Configuration } from "./configuration.ts";
import type { PropertyDeclarations } from "./property-declaration.ts";

export interface LoadConfiguration<P extends PropertyDeclarations> {
  readonly service: string;
  readonly properties: P;
  /** Arguments without the program: `--name=value`. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where `signalbox.yaml` and `signalbox.<profile>.yaml` are looked for; `null` reads no files. */
  readonly directory: string | null;
  readonly profile?: string | undefined;
  /** Names that other services know, so a shared file is not refused. */
  readonly foreignNames?: Iterable<string>;
  /** Overrides known before the start: the only ones that reach properties with `reload: "restart"`. */
  readonly overrides?: Readonly<Record<string, unknown>>;
}

export declare function loadConfiguration<P extends PropertyDeclarations>(
  input: LoadConfiguration<P>,
): Configuration<P>;
