import type { AccountService } from "../src/context/account-service.ts";

/** The service's context with these members alone: a read of any other one fails by its name. */
export const serviceWith = (parts: Partial<AccountService>): AccountService =>
  new Proxy(parts as AccountService, {
    get(given, name) {
      if (name in given) return Reflect.get(given, name);
      throw new Error(`this test gives no ${String(name)}`);
    },
  });
