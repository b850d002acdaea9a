import type { KoaContextWithOIDC } from "oidc-provider";

/** Koa middleware: runs before the provider sees a request, and after it has answered. */
export type Middleware = (ctx: KoaContextWithOIDC, next: () => Promise<void>) => Promise<void>;
