/** The messages of the portal to the page around it when it has no link, or its link has ended. It holds nothing secret. */
const wanted = { type: "signalbox.link-wanted" } as const;
/** Time in which a page that answers at all has a new link. */
const answerMsMax = 5_000;
/** False once the page around has not answered: a person waits for it once. */
let mayAnswer = true;

/** Returns the secret in an answer of the page around: the fragment of a link, of whatever address. */
export function secretIn(message: unknown): string | null {
  const { type, url } = (typeof message === "object" && message !== null ? message : {}) as Record<string, unknown>;
  if (type !== "signalbox.link" || typeof url !== "string") return null;
  const [, secret = ""] = url.split("#");
  return secret === "" ? null : secret;
}

/**
 * Asks the page around this one for a new link, and returns its secret; null where there is no such page, or no answer.
 * Only pages of `console.portal.origins` can be around this one, by its policy, and they could as well load a link here.
 */
export function askEmbedder(): Promise<string | null> {
  const { parent } = window;
  if (parent === window || !mayAnswer) return Promise.resolve(null);
  return new Promise((resolve) => {
    const settle = (secret: string | null) => {
      clearTimeout(timer);
      removeEventListener("message", hear);
      resolve(secret);
    };
    const hear = ({ source, data }: MessageEvent) => {
      const secret = source === parent ? secretIn(data) : null;
      if (secret !== null) settle(secret);
    };
    const timer = setTimeout(() => {
      mayAnswer = false;
      settle(null);
    }, answerMsMax);
    addEventListener("message", hear);
    parent.postMessage(wanted, "*");
  });
}
