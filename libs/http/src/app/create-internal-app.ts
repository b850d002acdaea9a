import type { RequestListener } from "node:http";
import type { Routes } from "../routes/create-routes.ts";
import type { HttpContext } from "./http-context.ts";

export interface InternalAppOptions {
  readonly context: HttpContext;
  /** The live values of `internal.token`: two while it rotates. */
  readonly tokens: readonly string[] | (() => readonly string[]);
  /** Routes of the internal listener; their `auth` is `"anonymous"`, since the token was checked before them. */
  readonly routes: Routes;
  /** Other listeners by path prefix, such as the subgraph at `/graphql`, behind the same token. */
  readonly mounts?: Readonly<Record<string, RequestListener>>;
  readonly strict?: boolean;
}

/** Builds the internal listener: nothing answers without the internal token, not even with 404. */
export declare function createInternalApp(options: InternalAppOptions): RequestListener;
