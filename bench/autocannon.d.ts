declare module "autocannon" {
  interface Request {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }
  interface Options {
    readonly url: string;
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
    readonly headers?: Readonly<Record<string, string>>;
    /** Each connection sends these in rotation; `setupRequest` builds every one again. */
    readonly requests?: readonly (Request & { readonly setupRequest?: (request: Request) => Request })[];
  }
  interface Result {
    readonly errors: number;
    readonly non2xx: number;
    readonly "4xx": number;
    readonly "5xx": number;
    readonly requests: { readonly average: number; readonly total: number };
    readonly latency: { readonly p50: number; readonly p97_5: number; readonly p99: number };
  }
  /** Loads a server over HTTP/1.1 and returns the measurement. The package has no types of its own. */
  function autocannon(options: Options): Promise<Result>;
  export = autocannon;
}
