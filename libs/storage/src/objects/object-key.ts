const segment = "[A-Za-z0-9_-][A-Za-z0-9._-]*";
const form = new RegExp(`^${segment}(/${segment})*$`);
const prefixForm = new RegExp(`^(${segment}/)*(${segment})?$`);
const charactersMax = 512;
const segmentCharactersMax = 200; // file systems end at 255 bytes

/** Throws for a key that could leave the folder of the store, hide in it, or mean different things to two stores. */
export function checkKey(key: string): void {
  const tooLong = key.length > charactersMax || key.split("/").some((part) => part.length > segmentCharactersMax);
  if (tooLong || !form.test(key)) throw new Error(`${JSON.stringify(key)} is not an object key`);
}

/** Throws for a prefix that no key could begin with. */
export function checkPrefix(prefix: string): void {
  if (prefix.length > charactersMax || !prefixForm.test(prefix))
    throw new Error(`${JSON.stringify(prefix)} is not a key prefix`);
}
