import type { DeliveryService } from "../src/context/delivery-service.ts";

/** Builds a service of the given parts, which may be fakes. It fails by name on what the test did not give. */
export const serviceWith = (parts: Partial<Record<keyof DeliveryService, unknown>>): DeliveryService =>
  new Proxy(parts as unknown as DeliveryService, {
    get(given, name) {
      if (!Reflect.has(given, name)) throw new Error(`the test gives no ${String(name)}`);
      return Reflect.get(given, name);
    },
  });
