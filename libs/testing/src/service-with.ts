/** Parts of a context, each as far as a test needs it. */
type Parts<Service> = {
  readonly [Name in keyof Service]?: Service[Name] extends (...given: never[]) => unknown
    ? Service[Name]
    : Partial<Service[Name]>;
};

/** Builds the context of a service from these parts alone: reading any other one fails by its name. */
export const serviceWith = <Service extends object>(parts: Parts<Service>): Service => onlyOf(parts) as Service;

/** Builds an object of these members alone: reading any other one fails by its name. */
export const onlyOf = <Given extends object>(given: Given): Given =>
  new Proxy(given, {
    get(target, name) {
      if (!(name in target)) throw new Error(`The test gives no ${String(name)}.`);
      return Reflect.get(target, name);
    },
  });
