import type { IncomingMessage, RequestListener } from "node:http";

/** Listeners that answer everything under a path prefix by themselves. */
export type Mounts = Readonly<Record<string, RequestListener>>;

/** Puts listeners of their own before an app. They see the whole path, unlike with `app.use`. */
export function withMounts(app: RequestListener, mounts: Mounts): RequestListener {
  const entries = Object.entries(mounts);
  if (entries.length === 0) return app;
  return (request, response) => {
    const found = entries.find(([prefix]) => isUnder(request, prefix));
    (found ? found[1] : app)(request, response);
  };
}

function isUnder({ url = "" }: IncomingMessage, prefix: string): boolean {
  if (!url.startsWith(prefix)) return false;
  const next = url.charAt(prefix.length);
  return next === "" || next === "/" || next === "?";
}
