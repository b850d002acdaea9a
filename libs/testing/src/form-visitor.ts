/** A page that the visitor has received. */
interface Seen {
  readonly status: number;
  /** Final address, which may be a foreign one. */
  readonly url: URL;
  readonly headers: Headers;
  readonly text: string;
}

type Ask = (url: string, options: RequestInit) => Promise<Response>;

/**
 * Acts like a browser without scripts: cookies, redirects, forms. It follows redirects below `baseUrl` and stops at
 * others, such as an application's. `ask` sends one request.
 */
export function createFormVisitor(baseUrl: string, ask: Ask = fetch) {
  const cookies = new Map<string, string>();

  async function send(url: string, options: RequestInit = {}): Promise<Seen> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { accept: "text/html", cookie, ...(options.headers as Record<string, string>) };
    const response = await ask(url, { redirect: "manual", ...options, headers });
    for (const line of response.headers.getSetCookie()) keep(line);
    const location = response.headers.get("location");
    const text = await response.text();
    if (location === null) return { status: response.status, url: new URL(url), headers: response.headers, text };
    const next = new URL(location, url);
    if (next.href.startsWith(baseUrl)) return send(next.href);
    return { status: response.status, url: next, headers: response.headers, text };
  }

  function keep(line: string): void {
    const [pair = ""] = line.split(";", 1);
    const at = pair.indexOf("=");
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (value === "" || /expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name);
    else cookies.set(name, value);
  }

  return {
    cookies,
    open: (url: string | URL) => send(String(url)),
    /** Sends a form that the page need not have. */
    post: (url: string | URL, fields: Record<string, string>) =>
      send(String(url), { method: "POST", body: new URLSearchParams(fields) }),
    /** Presses the one button of a page whose form posts to the page's own address. */
    press: (page: Seen) => send(page.url.href, { method: "POST", body: new URLSearchParams() }),
    /** Fills in the form of this step (or the first form) and submits it. */
    submit(page: Seen, fields: Record<string, string>, step?: string, headers: Record<string, string> = {}) {
      const forms = [...page.text.matchAll(/<form [^>]*action="([^"]+)"[^>]*>(.*?)<\/form>/gs)];
      const [, action = "", inputs = ""] =
        forms.find(([form]) => step === undefined || form.includes(`name="step" value="${step}"`)) ?? [];
      const hidden = [...inputs.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const body = new URLSearchParams();
      for (const [, name = "", value = ""] of hidden) body.set(name, value);
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      return send(new URL(action, page.url).href, { method: "POST", body, headers });
    },
  };
}
