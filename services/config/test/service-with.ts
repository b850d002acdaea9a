import type { ConfigService } from "../src/context/config-service.ts";

type Parts = { readonly [Name in keyof ConfigService]?: Partial<ConfigService[Name]> };

/** The context with the given parts alone: an operation that leans on another fails with its name. */
export const serviceWith = (parts: Parts): ConfigService =>
  new Proxy(parts, {
    get(target, name) {
      if (!(name in target)) throw new Error(`The test gives no part ${String(name)}.`);
      return Reflect.get(target, name);
    },
  }) as ConfigService;
